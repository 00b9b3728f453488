// How long a run that moves bytes or computes will take, expected from its plan and a short probe of this machine.
#pragma once

#include "policies/pages.hpp"
#include "reports/result.hpp"
#include "sim/decoder_stack.hpp"
#include "sim/model_config.hpp"

#include <cstdint>

namespace kvreplay::sim {

// What may be expected here, measured in well under a second.
struct MachineSpeed {
  double flops_per_second = 0;         // matrix products over many rows
  double read_bytes_per_second = 0;    // streaming weights for one row
  double filled_bytes_per_second = 0;  // copying into memory nobody touched, as a cache that grows does
};
MachineSpeed measure_machine_speed(KernelChoice kernels, int threads, policies::PageChoice pages);
double measure_filling(policies::PageChoice pages);

// What a replay asks of the machine, from the counters of its plan.
struct Work {
  double flops = 0;
  double bytes_read = 0;    // all weights at every evaluation, and the keys and values its queries see
  double bytes_filled = 0;  // copied or zeroed in the cache
};
Work work_of(const ModelConfig& model, const reports::Counters& plan);

// Seconds for arithmetic, reading and filling one after the other: each evaluation is bound by one of the first two,
// and the other is then small beside it. An expectation, not a bound: a cache small enough for the processor's own
// caches is filled faster.
double expected_seconds(const Work& work, const MachineSpeed& speed);
double expected_filling_seconds(const Work& work, double filled_bytes_per_second);

}  // namespace kvreplay::sim
