// A radix tree over the lists a workload evaluates: the cache that never forgets. Edges are slices, not ids.
#pragma once

#include "workloads/ledger.hpp"

#include <unordered_map>
#include <utility>
#include <vector>

namespace kvreplay::workloads {

class PrefixTree {
 public:
  // Where a list ends: inside or at the end of a node's edge.
  struct Place {
    std::uint32_t node = 0;
    Count depth = 0;
  };

  struct Match {
    Count common = 0;       // longest prefix shared with any list added before
    bool answered = false;  // the very same list was added before
  };

  // `ids` must outlive the tree.
  explicit PrefixTree(const StreamIds& ids);

  // Adds a list that is known to share `shared` ids with the list whose place is `place`; `place` becomes this list's.
  // Costs the ids beyond `shared` that have to be compared, not the length of the list.
  Match add(const Ledger& list, Place& place, Count shared);

  // Lists added that are no prefix of another one.
  Count num_leaves() const;

 private:
  struct Node {
    std::uint32_t parent = 0;
    Count start = 0;  // depth at which the edge begins
    Ledger edge;
    std::vector<std::pair<Count, Count>> answered;  // depths in (start, end] at which lists end: closed ranges, sorted
    std::uint32_t num_children = 0;

    Count end() const { return start + edge.length(); }
  };

  static std::uint64_t child_key(std::uint32_t node, TokenId id) { return std::uint64_t{node} << 32 | id; }
  std::uint32_t descend(const Ledger& list, Place from, Count& depth) const;
  void extend(const Ledger& list, std::uint32_t& node, Count depth);
  std::uint32_t split(std::uint32_t node, Count depth);
  void mark_answered(Node& node, Count depth);

  const StreamIds& ids_;
  std::vector<Node> nodes_;  // nodes_[0]: the root, with an empty edge
  std::unordered_map<std::uint64_t, std::uint32_t> children_;
};

}  // namespace kvreplay::workloads
