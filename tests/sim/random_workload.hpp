// Random but valid workloads: every kind of event, small ids so that different lists share tokens by chance.
#pragma once

#include <cstdint>
#include <string>

namespace kvreplay::sim::testing {

struct RandomShape {
  int num_events = 40;
  int longest = 60;  // tokens of a list
};

// The YAML text of a workload on the toy model.
std::string random_workload(std::uint32_t seed, const RandomShape& shape = {});

}  // namespace kvreplay::sim::testing
