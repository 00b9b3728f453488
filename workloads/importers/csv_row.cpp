#include "workloads/importers/csv_row.hpp"

#include "workloads/fields.hpp"
#include "workloads/yaml/source_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace kvreplay::workloads::importers {
namespace {

using yaml::shown;

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// Takes the quoted field that begins at `at`; `at` becomes the place behind it. False: it does not end.
bool take_quoted(std::string_view text, std::size_t& at, std::string& field) {
  for (++at; at < text.size(); ++at) {
    if (text[at] != '"') {
      field += text[at];
    } else if (text.substr(at).starts_with("\"\"")) {
      field += text[at++];
    } else {
      ++at;
      return true;
    }
  }
  return false;
}

std::vector<std::string> split(const TraceLine& line, const std::string& file) {
  std::vector<std::string> fields;
  const std::string_view text = line.text;
  for (std::size_t at = 0;; ++at) {
    std::string& field = fields.emplace_back();
    if (at < text.size() && text[at] == '"') {
      const bool ends = take_quoted(text, at, field);
      if (!ends || (at < text.size() && text[at] != ',')) {
        throw InputError(file, {line.number, static_cast<int>(at) + 1}, "",
                         ends ? "text behind a quoted field" : "a quoted field that does not end on its line");
      }
    } else {
      const std::size_t end = std::min(text.find(',', at), text.size());
      field = trimmed(text.substr(at, end - at));
      at = end;
    }
    if (at >= text.size()) return fields;
  }
}

}  // namespace

CsvHeader::CsvHeader(const TraceLine* line, const std::string& file) : file_(file) {
  if (line == nullptr) throw InputError(file, {}, "", "empty, not even a header");
  line_ = line->number;
  names_ = split(*line, file);
  used_.resize(names_.size());
  for (std::size_t i = 0; i < names_.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (lower(names_[i]) != lower(names_[j])) continue;
      throw InputError(file, {line_, 0}, "", "the column " + shown(names_[i]) + " is there twice");
    }
  }
}

std::size_t CsvHeader::optional(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (lower(names_[i]) != lower(std::string(name))) continue;
      used_[i] = true;
      return i;
    }
  }
  return absent;
}

std::vector<std::string> CsvHeader::unused() const {
  std::vector<std::string> unused;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (!used_[i]) unused.push_back(names_[i]);
  }
  return unused;
}

std::size_t CsvHeader::required(std::initializer_list<std::string_view> names) const {
  const std::size_t column = optional(names);
  if (column != absent) return column;
  std::string wanted, there;
  for (const std::string_view name : names) wanted += (wanted.empty() ? "" : " or ") + std::string(name);
  for (const std::string& name : names_) there += (there.empty() ? "" : ", ") + shown(name);
  constexpr std::size_t longest = 300;
  if (there.size() > longest) there.replace(longest, std::string::npos, "...");
  throw InputError(file_, {line_, 0}, "", "no column " + wanted + "; the header has " + there);
}

CsvRow::CsvRow(const TraceLine& line, const CsvHeader& header)
    : header_(&header), fields_(split(line, header.file())), line_(line.number) {
  if (fields_.size() == header.num_columns()) return;
  throw InputError(header.file(), {line_, 0}, "",
                   std::to_string(fields_.size()) + " fields, but the header names " +
                       std::to_string(header.num_columns()) +
                       (line.has_end ? "" : "; the file ends in this row, cut off?"));
}

InputError CsvRow::fault(std::size_t column, const std::string& problem) const {
  return {header_->file(), {line_, 0}, header_->name(column), problem + ", found " + shown(fields_[column])};
}

Count CsvRow::whole(std::size_t column, Count least, Count most) const {
  const auto value = whole_number(fields_[column]);
  if (value && *value >= least && *value <= most) return *value;
  std::string problem = "expected a whole number of at least " + std::to_string(least);
  if (most != std::numeric_limits<Count>::max()) problem += " and at most " + std::to_string(most);
  throw fault(column, problem);
}

double CsvRow::number(std::size_t column, double least) const {
  const std::string& text = fields_[column];
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && std::isfinite(value) && value >= least) return value;
  throw fault(column, "expected a number of at least " + std::to_string(static_cast<Count>(least)));
}

}  // namespace kvreplay::workloads::importers
