// The result file, schema kvreplay.result/1 (reports/schema/kvreplay.result-1.schema.json): written and read back.
#pragma once

#include "reports/result.hpp"

#include <stdexcept>
#include <string>
#include <string_view>

namespace kvreplay::reports {

inline constexpr std::string_view result_schema = "kvreplay.result/1";

// One JSON document, one result a line, "\n" at its end. Integers stay integers, absent values are null, strings are
// valid UTF-8 (what is not becomes U+FFFD).
std::string write_result_json(const ResultFile& file);

// "FILE: /results/0/counters/reallocations: problem".
class ResultError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A text that no JSON parser takes; the message has the place in the text.
class NotJson : public ResultError {
 public:
  using ResultError::ResultError;
};

// The records a result file holds. Fields nobody knows are ignored (fields may be added); everything else is strict.
// `name` stands for the file in messages. Throws NotJson, and ResultError: no result file, another version of the
// schema, a field missing, twice or of another type, an integer out of range, a negative time.
ResultFile read_result_json(std::string_view text, const std::string& name);

}  // namespace kvreplay::reports
