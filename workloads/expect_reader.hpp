// Reads `expect` and compares its policy-free part with what the events give.
#pragma once

#include "workloads/workload.hpp"
#include "workloads/yaml/tree.hpp"

namespace kvreplay::workloads {

// Fills workload.expect. Throws InputError.
void read_expect(yaml::NodeRef expect, Workload& workload);

// Every number `expect` gives that does not depend on a policy must be what the events give. Throws InputError at the
// first that is not. The floors (min_fed, min_fed_unlimited) and checksums are worked out only if given.
void check_expect(yaml::NodeRef expect, const Workload& workload);

}  // namespace kvreplay::workloads
