// What an importer reads from: the rows of a file, the options it was given, and the tally of what it leaves out.
#pragma once

#include "workloads/importers/import.hpp"
#include "workloads/importers/trace_lines.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace kvreplay::workloads::importers {

class TraceRows {
 public:
  // `options` must outlive this.
  TraceRows(const std::string& path, const ImportOptions& options) : options_(options), lines_(path) {}

  const ImportOptions& options() const { return options_; }

  // Calls `take` for every row until it has taken as many as --rows asks for; `take` gives whether it took the row.
  // With --skip-bad an InputError of `take` or of the line itself is counted and the next row tried: `take` must throw
  // before it writes events.
  void each(const std::function<bool(const TraceLine&)>& take);

  // One row: calls `take` and counts, as each() does. For rows that are not lines; `line` is where the row begins.
  void take_row(int line, const std::function<bool()>& take);
  bool wants_more() const { return !options_.rows || rows_taken_ < *options_.rows; }

  // All lines that are not blank, joined by line feeds, blank ones kept as such; at most 64 MiB. Throws InputError.
  std::string document();

  // The next line whatever --rows and --skip-bad say, for headers; nullptr at the end.
  const TraceLine* header() { return lines_.next(); }

  // Counts a row that is left out, or taken otherwise than it is written.
  void note(const std::string& reason, int line, const std::string& example = {});

  // Names of columns or keys that the rule has no use for, of which people are told once.
  void leave_unused(const std::vector<std::string>& names);

  const std::string& path() const { return lines_.path(); }
  // length / scale, rounded up.
  Count scaled(Count length) const { return (length + options_.scale - 1) / options_.scale; }
  // Whether --max-input keeps a prompt of so many tokens; counts it if not.
  bool keeps_input(Count tokens, int line);

  // Of everything read so far; the checksum reads the rest of the file.
  void finish(Imported& imported) const;
  std::string sha256() { return lines_.sha256(); }
  Count rows_taken() const { return rows_taken_; }

 private:
  const ImportOptions& options_;
  TraceLines lines_;
  Count rows_read_ = 0, rows_taken_ = 0;
  std::vector<ImportNote> notes_;
  std::vector<std::string> unused_;
};

}  // namespace kvreplay::workloads::importers
