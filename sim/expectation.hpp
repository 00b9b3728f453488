// How long a compute run will take, expected from its plan and a short probe of this machine.
#pragma once

#include "reports/result.hpp"
#include "sim/model_config.hpp"

#include <cstdint>

namespace kvreplay::sim {

// What plain products reach here, measured in well under a second. The fast kernels are faster: an expectation for them
// is on the safe side.
struct MachineSpeed {
  double flops_per_second = 0;       // matrix products over many rows
  double read_bytes_per_second = 0;  // streaming weights for one row
};
MachineSpeed measure_machine_speed();

// Arithmetic and weight traffic of one replay, from the counters of its plan.
struct Work {
  double flops = 0;
  double weight_bytes_read = 0;  // every evaluation reads all weights once
};
Work work_of(const ModelConfig& model, const reports::Counters& plan);

// Seconds, the larger of arithmetic and traffic. An expectation, not a bound: reports print it as one.
double expected_seconds(const Work& work, const MachineSpeed& speed);

}  // namespace kvreplay::sim
