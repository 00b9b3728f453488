// How long a run that moves bytes or computes will take, expected from its plan and a short probe of this machine.
#pragma once

#include "policies/pages.hpp"
#include "reports/result.hpp"
#include "sim/decoder_stack.hpp"
#include "sim/model_config.hpp"

#include <cstdint>
#include <limits>

namespace kvreplay::sim {

// What may be expected here, measured in well under a second; what is not measured takes no time.
struct MachineSpeed {
  double flops_per_second = std::numeric_limits<double>::infinity();         // matrix products over many rows
  double read_bytes_per_second = std::numeric_limits<double>::infinity();    // streaming weights for one row
  double filled_bytes_per_second = std::numeric_limits<double>::infinity();  // copying into memory nobody touched
};
MachineSpeed measure_machine_speed(KernelChoice kernels, int threads, policies::PageChoice pages);
MachineSpeed measure_filling(policies::PageChoice pages);  // nothing else

// What a replay asks of the machine, from the counters of its plan.
struct Work {
  double flops = 0;
  double bytes_read = 0;    // all weights at every evaluation, and the keys and values its queries see
  double bytes_filled = 0;  // copied or zeroed in the cache
};
Work work_of(const ModelConfig& model, const reports::Counters& plan);
void add(Work& sum, const Work& work, Count times);

// Seconds for arithmetic, reading and filling one after the other: each evaluation is bound by one of the first two,
// and the other is then small beside it. An expectation, not a bound: a cache small enough for the processor's own
// caches is filled faster.
double expected_seconds(const Work& work, const MachineSpeed& speed);

}  // namespace kvreplay::sim
