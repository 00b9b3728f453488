// Which part of a run this process is: said outright, or by the engine that started it.
#pragma once

#include "reports/result.hpp"

#include <string>

namespace kvreplay::cli {

// "I/N" with I from 1 to N; or "auto", "auto/N": I from the environment, N too where that has it. num_cells stays 0.
//
// The environment is asked only for auto, so that no ambient variable makes a run partial. Exactly one engine must have
// set its variables: Slurm arrays (SLURM_ARRAY_TASK_ID, _MIN, _STEP, _COUNT), Kubernetes indexed jobs
// (JOB_COMPLETION_INDEX, from 0), GNU parallel (PARALLEL_SEQ, from 1), CI matrices (CI_NODE_INDEX, from 1,
// CI_NODE_TOTAL). Kubernetes and GNU parallel do not tell N. Throws OptionError.
reports::Shard parse_shard(const std::string& text);

}  // namespace kvreplay::cli
