// RFC 4180: comma separated values, written and read strictly.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kvreplay::reports {

// One record with its CRLF. A field with a comma, quote, line break, outer blank or a leading = + - @ is quoted; its
// content is never changed, so that readers get the same strings back. (Quotes do not keep a spreadsheet from reading
// "=1+1" as a formula: docs/results.md says how to import.) Invalid UTF-8 becomes U+FFFD.
void append_csv_record(std::string& out, std::span<const std::string> fields);

struct CsvRecord {
  std::size_t line = 0;  // where it begins, from 1
  std::vector<std::string> fields;
};

class CsvError : public std::runtime_error {
 public:
  CsvError(std::size_t line, const std::string& problem);
  std::size_t line;
};

// All records of a text, the header first. Line ends LF or CRLF, a byte order mark and blank lines at the end are
// accepted. Throws CsvError for a record with another number of fields than the first, an unclosed quote, text after a
// closing quote, a quote inside an unquoted field or a bare carriage return.
std::vector<CsvRecord> read_csv(std::string_view text);

}  // namespace kvreplay::reports
