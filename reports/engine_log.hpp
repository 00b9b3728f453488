// An engine's own log, one CSV record per call, laid beside the rows of explain.
//
// Joined on the log's `call` (or `evaluation`); every column both have is compared, cells that are blank or `error` in
// the log are not (docs/semantics.md, "Outcomes and verification").
#pragma once

#include "reports/result.hpp"

#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kvreplay::reports {

// "FILE:LINE: problem", or "FILE: problem" where no line is to blame.
class EngineLogError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct EngineLog {
  std::string name;                  // the file, for messages
  std::vector<std::string> columns;  // those explain has too, `evaluation` left out
  struct Row {
    std::size_t line = 0;  // in the file, from 1
    Count evaluation = 0;
    std::vector<std::string> cells;  // one per column
  };
  std::vector<Row> rows;  // in the order of the file
};

// Reads the file whole. Throws EngineLogError: unreadable, not CSV (RFC 4180), ragged records, no or two ordinal
// columns, a column twice, an ordinal twice, no column to compare, a cell of a number's column that is no integer.
EngineLog read_engine_log(const std::string& path);
// The same from memory; `name` stands for the file in messages.
EngineLog parse_engine_log(std::string_view text, const std::string& name);

struct LogDifference {
  Count evaluation = 0;
  std::size_t log_line = 0;
  std::string column, ours, theirs;  // as written in the two tables; ours may be blank
};

struct LogComparison {
  Count rows_compared = 0, cells_compared = 0, cells_differing = 0;
  std::vector<std::string> columns;               // compared, in explain's order
  std::optional<LogDifference> first_difference;  // smallest evaluation, then explain's order of columns
  std::vector<Count> only_in_log, only_in_ours;   // ordinals, ascending
  // Something was compared, nothing differs, and neither side has rows the other lacks.
  bool equal() const { return cells_compared > 0 && !first_difference && only_in_log.empty() && only_in_ours.empty(); }
};

// `ours`: explain's samples, ordinals ascending.
LogComparison compare_with_log(std::span<const Sample> ours, const EngineLog& log);

// A sentence for people, one line.
std::string describe(const LogComparison& comparison, const EngineLog& log);

}  // namespace kvreplay::reports
