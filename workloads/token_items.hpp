// Token scalars: "17 902 prompt:155 blk.46-57:512 out:12@20" (docs/workload-format.md, "Tokens").
#pragma once

#include "workloads/workload.hpp"
#include "workloads/yaml/tree.hpp"

#include <string>
#include <string_view>
#include <unordered_map>

namespace kvreplay::workloads {

// Reads token scalars into slices of the streams of a workload. Ids written in place go to an unnamed stream, which
// the reader adds on first use.
class TokenReader {
 public:
  // workload.vocab and the named streams must be there already; the workload must outlive the reader.
  explicit TokenReader(Workload& workload);

  // The items of a scalar; every id, name, index and bound is checked. `may_be_empty`: no item is no error.
  TokenSpans read(yaml::NodeRef node, bool may_be_empty = false);

  // Ids of a literal stream; no NAME items.
  std::vector<TokenId> read_ids(yaml::NodeRef node) const;

  // NAME[@OFFSET] of an unindexed stream.
  StreamPlace read_place(yaml::NodeRef node) const;

  // Throws if a literal stream has no `count` ids from `place` on.
  void check_available(const StreamPlace& place, Count count, yaml::NodeRef node) const;

 private:
  struct Item {
    yaml::NodeRef node;
    std::size_t ordinal;  // from 1
    std::string_view text;
    InputError fault(const std::string& problem, std::string given = {}, std::vector<std::string> names = {}) const;
  };

  TokenId id_of(const Item& item) const;
  Slice slice_of(const Item& item) const;
  std::uint32_t stream_named(std::string_view name, const Item& item) const;
  void read_index(std::string_view text, const Item& item, Slice& slice) const;
  void add_id(TokenId id, TokenSpans& spans);

  Workload& workload_;
  std::unordered_map<std::string, std::uint32_t> stream_of_name_;
  std::uint32_t unnamed_ = 0;
  bool has_unnamed_ = false;
};

// Sum of the counts.
Count num_tokens(const TokenSpans& spans);

}  // namespace kvreplay::workloads
