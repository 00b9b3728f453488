// Random workloads with what must come of them, worked out on plain lists of ids while they are written.
#pragma once

#include "workloads/expansion.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kvreplay::workloads::tests {

using Ids = std::vector<TokenId>;

struct ExpectedStep {
  StepKind kind = StepKind::evaluate;
  std::string sequence, forked_from;
  Ids list;                   // evaluate
  Count length = 0;           // shorten
  Count num_logits = 1;       // evaluate
  Count common_last = 0;      // evaluate
  Count common_sequence = 0;  // evaluate
  std::size_t event_index = 0;
};

struct RandomWorkload {
  std::string text;  // YAML, without expect
  std::vector<ExpectedStep> steps;
  Facts facts;  // all of them, checksums left out
  std::map<std::string, Ids> final_lists;
};

// The same for the same seed. Few different ids, so that prefixes agree often and by chance.
RandomWorkload random_workload(std::uint32_t seed);

// By definition: compares every list with every list before it.
void add_naive_floors(const std::vector<Ids>& lists, Facts& facts);

Count common_prefix(const Ids& a, const Ids& b);

}  // namespace kvreplay::workloads::tests
