#include "reports/csv.hpp"

#include "reports/text.hpp"

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

bool needs_quotes(std::string_view field) {
  if (field.empty()) return false;
  return field.find_first_of(",\"\r\n") != std::string_view::npos ||
         std::string_view("=+-@\t ").find(field.front()) != std::string_view::npos || field.back() == ' ';
}

// A number is never taken for a formula.
bool is_negative_number(std::string_view field) {
  return field.size() > 1 && field.front() == '-' &&
         field.find_first_not_of("0123456789.e+-", 1) == std::string_view::npos;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  }

  std::vector<CsvRecord> records() {
    std::vector<CsvRecord> result;
    while (at_ < text_.size()) {
      if (only_line_ends_follow()) break;
      CsvRecord record = read_record();
      if (!result.empty() && record.fields.size() != result.front().fields.size()) {
        throw CsvError(record.line, fmt::format("{} fields where the header has {}", record.fields.size(),
                                                result.front().fields.size()));
      }
      result.push_back(std::move(record));
    }
    return result;
  }

 private:
  bool only_line_ends_follow() const { return text_.find_first_not_of("\r\n", at_) == std::string_view::npos; }
  bool at_line_end() const { return at_ == text_.size() || text_[at_] == '\n' || text_.substr(at_, 2) == "\r\n"; }

  CsvRecord read_record() {
    CsvRecord record{line_, {}};
    for (;;) {
      record.fields.push_back(at_ < text_.size() && text_[at_] == '"' ? read_quoted() : read_plain());
      if (at_line_end()) break;
      ++at_;  // the comma
    }
    if (at_ < text_.size()) {
      at_ += text_[at_] == '\r' ? 2 : 1;
      ++line_;
    }
    return record;
  }

  std::string read_plain() {
    const std::size_t begin = at_;
    while (!at_line_end() && text_[at_] != ',') {
      if (text_[at_] == '"') throw CsvError(line_, "a quote inside an unquoted field");
      if (text_[at_] == '\r') throw CsvError(line_, "a carriage return without a line feed");
      ++at_;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string read_quoted() {
    const std::size_t first_line = line_;
    std::string field;
    for (++at_;; ++at_) {
      if (at_ == text_.size()) throw CsvError(first_line, "a quoted field is not closed");
      if (text_[at_] == '"') {
        ++at_;
        if (at_ == text_.size() || text_[at_] != '"') break;
      }
      if (text_[at_] == '\n') ++line_;
      field += text_[at_];
    }
    if (!at_line_end() && text_[at_] != ',') throw CsvError(line_, "text after a closing quote");
    return field;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

}  // namespace

void append_csv_record(std::string& out, std::span<const std::string> fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) out += ',';
    const std::string field = valid_utf8(fields[i]);
    if (!needs_quotes(field) || is_negative_number(field)) {
      out += field;
      continue;
    }
    out += '"';
    for (const char c : field) {
      if (c == '"') out += '"';
      out += c;
    }
    out += '"';
  }
  out += "\r\n";
}

CsvError::CsvError(std::size_t at_line, const std::string& problem)
    : std::runtime_error(fmt::format("line {}: {}", at_line, problem)), line(at_line) {}

std::vector<CsvRecord> read_csv(std::string_view text) { return Reader(text).records(); }

}  // namespace kvreplay::reports
