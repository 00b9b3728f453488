// Strict reading of maps and scalars out of a YAML tree. Every fault is an InputError at the node concerned that says
// what was expected.
#pragma once

#include "workloads/workload.hpp"
#include "workloads/yaml/tree.hpp"

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvreplay::workloads {

using KeyList = std::span<const std::string_view>;

// A map with known keys; keys that begin with x- are free everywhere.
class MapFields {
 public:
  // Throws unless `node` is a map whose keys are all among `known`. `known` must outlive this object.
  MapFields(yaml::NodeRef node, KeyList known);

  std::optional<yaml::NodeRef> optional(std::string_view key) const;

  // `what` says what belongs there, for the message.
  yaml::NodeRef required(std::string_view key, std::string_view what) const;

  yaml::NodeRef node() const { return node_; }

 private:
  yaml::NodeRef node_;
};

// A key and its value.
struct Entry {
  yaml::NodeRef key;
  yaml::NodeRef value;
};

// All entries of a map, x- keys left out; the items of a list. Throw if the node is something else; `what` as above.
std::vector<Entry> entries_of(yaml::NodeRef map, std::string_view what);
std::vector<yaml::NodeRef> items_of(yaml::NodeRef list, std::string_view what);

bool is_free_key(std::string_view key);

// Decimal digits with an optional sign, nothing else; "08", "0x10", "1e3" and "1.0" are not whole numbers. The value
// if `text` is one and fits, else nothing.
std::optional<Count> whole_number(std::string_view text);

inline constexpr Count any_count = std::numeric_limits<Count>::max();

// Scalars. Quoted or not makes no difference, blanks around a number neither.
Count read_count(yaml::NodeRef node, Count min, Count max = any_count);
std::uint64_t read_seed(yaml::NodeRef node);         // negative seeds count as 64-bit two's complement
double read_number(yaml::NodeRef node, double min);  // decimal, with or without exponent
bool read_bool(yaml::NodeRef node);                  // true or false, nothing else
std::string read_text(yaml::NodeRef node);           // one line, not empty
std::string read_long_text(yaml::NodeRef node);      // may have several lines
std::string_view read_name(yaml::NodeRef node);      // [A-Za-z_][A-Za-z0-9_]*
bool is_name(std::string_view text);

// An error for text that is none of `valid`; the message lists them.
InputError not_among(yaml::NodeRef node, std::string_view what, std::vector<std::string> valid);

}  // namespace kvreplay::workloads
