#include "workloads/prefix_tree.hpp"

#include <algorithm>

namespace kvreplay::workloads {
namespace {

using Ranges = std::vector<std::pair<Count, Count>>;

// The first range that reaches a depth beyond `depth`.
Ranges::iterator first_ending_beyond(Ranges& ranges, Count depth) {
  return std::partition_point(ranges.begin(), ranges.end(),
                              [depth](const auto& range) { return range.second <= depth; });
}

}  // namespace

PrefixTree::PrefixTree(const StreamIds& ids) : ids_(ids), nodes_(1) {}

PrefixTree::Match PrefixTree::add(const Ledger& list, Place& place, Count shared) {
  std::uint32_t node = place.node;
  while (node != 0 && shared <= nodes_[node].start) node = nodes_[node].parent;
  Match match{shared, false};
  node = descend(list, {node, shared}, match.common);
  if (match.common < list.length()) {
    extend(list, node, match.common);
  } else {
    Ranges& ranges = nodes_[node].answered;
    const auto range = first_ending_beyond(ranges, list.length() - 1);
    match.answered = range != ranges.end() && range->first <= list.length();
  }
  if (!match.answered) mark_answered(nodes_[node], list.length());
  place = {node, list.length()};
  return match;
}

// Follows the list from a place in the tree as far as it goes; gives the node it ends in and the depth reached.
std::uint32_t PrefixTree::descend(const Ledger& list, Place from, Count& depth) const {
  std::uint32_t node = from.node;
  depth = from.depth;
  while (true) {
    const Node& at = nodes_[node];
    if (depth < at.end()) {
      depth += ids_.common_prefix(list.run_from(depth), at.edge.run_from(depth - at.start), at.end() - depth);
      if (depth < at.end()) return node;
    }
    if (depth == list.length() || at.num_children == 0) return node;
    const auto child = children_.find(child_key(node, list.id_at(ids_, depth)));
    if (child == children_.end()) return node;
    node = child->second;
  }
}

// Adds the rest of the list below `node` at `depth`; `node` becomes the node it ends in.
void PrefixTree::extend(const Ledger& list, std::uint32_t& node, Count depth) {
  if (depth < nodes_[node].end()) node = split(node, depth);
  // A leaf just grows: plain decoding adds one id to it.
  const bool grows = node != 0 && nodes_[node].num_children == 0;
  if (!grows) {
    const std::uint32_t leaf = static_cast<std::uint32_t>(nodes_.size());
    children_.emplace(child_key(node, list.id_at(ids_, depth)), leaf);
    ++nodes_[node].num_children;
    nodes_.emplace_back();
    nodes_[leaf].parent = node;
    nodes_[leaf].start = depth;
    node = leaf;
  }
  SliceRun rest = list.run_from(depth);
  for (; rest.num_slices > 0; --rest.num_slices, ++rest.first, rest.skip = 0) {
    nodes_[node].edge.append(tail_of(*rest.first, rest.skip));
  }
}

// Cuts the edge of `node` at `depth` and gives the new node above the cut. The lower part keeps its number, so that
// places in it stay valid; places above the cut are found by climbing.
std::uint32_t PrefixTree::split(std::uint32_t node, Count depth) {
  const std::uint32_t upper = static_cast<std::uint32_t>(nodes_.size());
  nodes_.emplace_back();
  Node& lower = nodes_[node];
  Node& above = nodes_[upper];
  above.parent = lower.parent;
  above.start = lower.start;
  above.num_children = 1;
  above.edge = std::move(lower.edge);
  lower.edge = above.edge.split_off(depth - above.start);
  lower.start = depth;
  lower.parent = upper;
  children_[child_key(above.parent, above.edge.id_at(ids_, 0))] = upper;
  children_.emplace(child_key(upper, lower.edge.id_at(ids_, 0)), node);

  // The lower part is usually the small one.
  above.answered = std::move(lower.answered);
  const auto first = first_ending_beyond(above.answered, depth);
  lower.answered.assign(first, above.answered.end());
  above.answered.erase(first, above.answered.end());
  if (!lower.answered.empty() && lower.answered.front().first <= depth) {
    above.answered.emplace_back(lower.answered.front().first, depth);
    lower.answered.front().first = depth + 1;
  }
  return upper;
}

// `depth` lies in none of the node's ranges.
void PrefixTree::mark_answered(Node& node, Count depth) {
  Ranges& ranges = node.answered;
  const auto after = ranges.empty() || ranges.back().second < depth ? ranges.end() : first_ending_beyond(ranges, depth);
  if (after != ranges.begin() && std::prev(after)->second + 1 == depth) {
    std::prev(after)->second = depth;
  } else {
    ranges.emplace(after, depth, depth);
  }
}

Count PrefixTree::num_leaves() const {
  const auto childless = [](const Node& node) { return node.num_children == 0; };
  return std::count_if(nodes_.begin() + 1, nodes_.end(), childless);
}

}  // namespace kvreplay::workloads
