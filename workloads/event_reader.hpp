// Reads the list of events.
#pragma once

#include "workloads/workload.hpp"
#include "workloads/yaml/tree.hpp"

namespace kvreplay::workloads {

// Fills the events, sequence names and mark names of `workload`, whose vocab and streams must be there. Throws
// InputError for faults of form and for events that break a ledger rule.
void read_events(yaml::NodeRef events, Workload& workload);

}  // namespace kvreplay::workloads
