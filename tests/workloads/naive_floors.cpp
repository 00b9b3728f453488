#include "tests/workloads/random_workload.hpp"

#include <algorithm>
#include <set>

namespace kvreplay::workloads::tests {

Count common_prefix(const Ids& a, const Ids& b) {
  Count n = 0;
  while (n < static_cast<Count>(std::min(a.size(), b.size())) &&
         a[static_cast<std::size_t>(n)] == b[static_cast<std::size_t>(n)])
    ++n;
  return n;
}

void add_naive_floors(const std::vector<Ids>& lists, Facts& facts) {
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const Count length = static_cast<Count>(lists[i].size());
    Count longest = 0;
    bool answered = false;
    for (std::size_t j = 0; j < i; ++j) {
      longest = std::max(longest, common_prefix(lists[i], lists[j]));
      answered = answered || lists[i] == lists[j];
    }
    facts.tokens_floor_multi += answered ? 0 : std::max<Count>(1, length - longest);
    const Count held = i == 0 ? 0 : static_cast<Count>(lists[i - 1].size());
    const Count common = i == 0 ? 0 : common_prefix(lists[i], lists[i - 1]);
    facts.tokens_floor_single += length - (common == length && held > length ? common - 1 : common);
  }
  const std::set<Ids> distinct(lists.begin(), lists.end());
  for (const Ids& list : distinct) {
    const bool extended = std::any_of(distinct.begin(), distinct.end(), [&](const Ids& other) {
      return other.size() > list.size() && common_prefix(list, other) == static_cast<Count>(list.size());
    });
    facts.leaves += !extended;
  }
}

}  // namespace kvreplay::workloads::tests
