// Rows of a comma-separated file with a header line, read strictly: every fault with file, line and column.
#pragma once

#include "workloads/importers/trace_lines.hpp"
#include "workloads/workload.hpp"

#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace kvreplay::workloads::importers {

// Where a file has its columns. Names are compared without regard to case and to blanks around them.
class CsvHeader {
 public:
  // `line` is nullptr for an empty file. Throws InputError: no header, a column twice.
  CsvHeader(const TraceLine* line, const std::string& file);

  static constexpr std::size_t absent = std::numeric_limits<std::size_t>::max();

  // The place of the first of `names` the file has, absent if it has none.
  std::size_t optional(std::initializer_list<std::string_view> names) const;
  // The same; throws InputError that lists the columns there are.
  std::size_t required(std::initializer_list<std::string_view> names) const;

  // The columns nobody has asked for so far.
  std::vector<std::string> unused() const;

  const std::string& name(std::size_t column) const { return names_[column]; }
  std::size_t num_columns() const { return names_.size(); }
  const std::string& file() const { return file_; }

 private:
  std::string file_;
  int line_ = 0;
  std::vector<std::string> names_;
  mutable std::vector<bool> used_;  // by column: somebody asked for it
};

class CsvRow {
 public:
  // Splits a line by RFC 4180; a quoted field must end on its line. Throws InputError, also for a row that has not as
  // many fields as the header. `header` must outlive this.
  CsvRow(const TraceLine& line, const CsvHeader& header);

  const std::string& text(std::size_t column) const { return fields_[column]; }
  // Decimal digits, in [least, most].
  Count whole(std::size_t column, Count least, Count most = std::numeric_limits<Count>::max()) const;
  double number(std::size_t column, double least) const;
  int line() const { return line_; }
  InputError fault(std::size_t column, const std::string& problem) const;

 private:
  const CsvHeader* header_;
  std::vector<std::string> fields_;
  int line_ = 0;
};

}  // namespace kvreplay::workloads::importers
