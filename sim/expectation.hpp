// How long a compute run will take, expected from its plan and a short probe of this machine.
#pragma once

#include "reports/result.hpp"
#include "sim/decoder_stack.hpp"
#include "sim/model_config.hpp"

#include <cstdint>

namespace kvreplay::sim {

// What the stack may be expected to reach here with these kernels and threads, measured in well under a second.
struct MachineSpeed {
  double flops_per_second = 0;       // matrix products over many rows
  double read_bytes_per_second = 0;  // streaming weights for one row
};
MachineSpeed measure_machine_speed(KernelChoice kernels, int threads);

// Arithmetic and weight traffic of one replay, from the counters of its plan.
struct Work {
  double flops = 0;
  double weight_bytes_read = 0;  // every evaluation reads all weights once
};
Work work_of(const ModelConfig& model, const reports::Counters& plan);

// Seconds for arithmetic and traffic one after the other: each evaluation is bound by one of them, and the other is
// then small beside it. An expectation, not a bound.
double expected_seconds(const Work& work, const MachineSpeed& speed);

}  // namespace kvreplay::sim
