// One JSON object of a trace, read strictly: no duplicate keys, bounded depth, every fault with file, line and key.
// Keys a rule does not know are no faults by themselves, traces carry much that a replay has no use for; the rule says
// what becomes of them.
#pragma once

#include "workloads/fields.hpp"
#include "workloads/importers/trace_lines.hpp"
#include "workloads/workload.hpp"

#include <nlohmann/json.hpp>

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvreplay::workloads::importers {

class JsonRow {
 public:
  // Parses a line, which must be one object. Throws InputError.
  JsonRow(const TraceLine& line, const std::string& file);
  // An object inside another; `object` must outlive this. `place` is its place for messages, such as calls[3].
  JsonRow(const nlohmann::json& object, const JsonRow& outer, const std::string& place);
  JsonRow(const JsonRow&) = delete;
  JsonRow& operator=(const JsonRow&) = delete;

  bool has(const char* key) const { return object_->contains(key); }
  int line() const { return line_; }

  // Whole numbers, written without fraction or exponent, in [least, most].
  Count whole(const char* key, Count least, Count most = std::numeric_limits<Count>::max()) const;
  std::optional<double> number(const char* key, double least) const;  // absent or null: none
  std::string text(const char* key) const;
  // A list of whole numbers in [0, most].
  std::vector<Count> wholes(const char* key, Count most) const;
  const nlohmann::json& list(const char* key) const;
  // The object of a key, for a JsonRow of its own; and this very object.
  const nlohmann::json& object(const char* key) const;
  const nlohmann::json& object() const { return *object_; }

  // Keys that are not among `known`; those that begin with x- are free everywhere.
  std::vector<std::string> others(KeyList known) const;
  // An InputError for one of them.
  InputError unknown(const std::string& key, KeyList known) const;

  // An InputError at this row; `key` may be empty.
  InputError fault(std::string_view key, const std::string& problem) const;

 private:
  const nlohmann::json& value(const char* key) const;

  nlohmann::json owned_;
  const nlohmann::json* object_ = nullptr;
  std::string file_, place_;
  int line_ = 0;
};

}  // namespace kvreplay::workloads::importers
