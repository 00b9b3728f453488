#include "reports/engine_log.hpp"

#include "reports/csv.hpp"
#include "reports/sample_columns.hpp"
#include "reports/text.hpp"
#include "reports/whole_file.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

constexpr std::string_view own_ordinal = "evaluation";
constexpr std::string_view log_ordinal = "call";

[[noreturn]] void fail(const std::string& name, std::size_t line, const std::string& problem) {
  throw EngineLogError(fmt::format("{}:{}: {}", name, line, problem));
}

std::optional<Count> integer(std::string_view text) {
  Count value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_compared(std::string_view cell) { return !cell.empty() && cell != "error"; }

// Where the log's columns lie in its records.
struct Layout {
  std::size_t ordinal = 0;
  std::vector<const SampleColumn*> columns;
  std::vector<std::size_t> fields;
};

std::size_t ordinal_field(const CsvRecord& header, const std::string& name) {
  const auto find = [&](std::string_view column) {
    return std::find(header.fields.begin(), header.fields.end(), column);
  };
  const auto call = find(log_ordinal), evaluation = find(own_ordinal);
  if (call == header.fields.end() && evaluation == header.fields.end()) {
    fail(name, header.line, "no column `call` or `evaluation` to join on");
  }
  if (call != header.fields.end() && evaluation != header.fields.end()) {
    fail(name, header.line, "both a column `call` and a column `evaluation`: keep the one to join on");
  }
  return static_cast<std::size_t>((call != header.fields.end() ? call : evaluation) - header.fields.begin());
}

Layout layout_of(const CsvRecord& header, const std::string& name) {
  Layout layout;
  layout.ordinal = ordinal_field(header, name);
  for (std::size_t i = 0; i < header.fields.size(); ++i) {
    const auto later = header.fields.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    if (std::find(later, header.fields.end(), header.fields[i]) != header.fields.end()) {
      fail(name, header.line, fmt::format("column `{}` twice", printable(header.fields[i])));
    }
  }
  for (const SampleColumn& column : sample_columns().subspan(1)) {
    const auto field = std::find(header.fields.begin(), header.fields.end(), column.name);
    if (field == header.fields.end()) continue;
    layout.columns.push_back(&column);
    layout.fields.push_back(static_cast<std::size_t>(field - header.fields.begin()));
  }
  if (layout.columns.empty()) fail(name, header.line, "no column that explain has too: nothing to compare");
  return layout;
}

EngineLog::Row row_of(const CsvRecord& record, const Layout& layout, const std::string& name) {
  const std::string& ordinal = record.fields[layout.ordinal];
  const std::optional<Count> evaluation = integer(ordinal);
  if (!evaluation || *evaluation < 0) {
    fail(name, record.line, fmt::format("`{}` is no ordinal of a call", shortened(ordinal, 60)));
  }
  EngineLog::Row row{record.line, *evaluation, {}};
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    const std::string& cell = record.fields[layout.fields[i]];
    if (layout.columns[i]->is_number && is_compared(cell) && !integer(cell)) {
      fail(name, record.line, fmt::format("{}: `{}` is no integer", layout.columns[i]->name, shortened(cell, 60)));
    }
    row.cells.push_back(cell);
  }
  return row;
}

// Numbers by value ("018" is 18), words as they are.
bool same(const SampleColumn& column, const std::string& ours, const std::string& theirs) {
  return column.is_number ? integer(ours) == integer(theirs) : ours == theirs;
}

void compare_row(const Sample& sample, const EngineLog::Row& row, const std::vector<std::string>& columns,
                 LogComparison& result) {
  ++result.rows_compared;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!is_compared(row.cells[i])) continue;
    ++result.cells_compared;
    const SampleColumn& column = *find_sample_column(columns[i]);
    const std::string ours = text_of(column.cell(sample));
    if (same(column, ours, row.cells[i])) continue;
    ++result.cells_differing;
    if (!result.first_difference) {
      result.first_difference = LogDifference{row.evaluation, row.line, columns[i], ours, row.cells[i]};
    }
  }
}

}  // namespace

EngineLog parse_engine_log(std::string_view text, const std::string& name) {
  std::vector<CsvRecord> records;
  try {
    records = read_csv(text);
  } catch (const CsvError& error) {
    throw EngineLogError(fmt::format("{}: {}", name, error.what()));
  }
  if (records.empty()) throw EngineLogError(fmt::format("{}: empty, not even a header", name));
  const Layout layout = layout_of(records.front(), name);
  EngineLog log{name, {}, {}};
  for (const SampleColumn* column : layout.columns) log.columns.emplace_back(column->name);
  std::map<Count, std::size_t> line_of;
  for (const CsvRecord& record : std::span(records).subspan(1)) {
    log.rows.push_back(row_of(record, layout, name));
    const auto [earlier, is_new] = line_of.emplace(log.rows.back().evaluation, record.line);
    if (!is_new)
      fail(name, record.line, fmt::format("call {} again, first in line {}", earlier->first, earlier->second));
  }
  if (log.rows.empty()) throw EngineLogError(fmt::format("{}: a header and no calls", name));
  return log;
}

EngineLog read_engine_log(const std::string& path) {
  std::string text;
  try {
    text = whole_file(path);
  } catch (const FileReadError& error) {
    throw EngineLogError(error.what());
  }
  return parse_engine_log(text, path);
}

LogComparison compare_with_log(std::span<const Sample> ours, const EngineLog& log) {
  LogComparison result;
  result.columns = log.columns;
  std::map<Count, const EngineLog::Row*> theirs;
  for (const EngineLog::Row& row : log.rows) theirs.emplace(row.evaluation, &row);
  for (const Sample& sample : ours) {
    const auto row = theirs.find(sample.evaluation);
    if (row == theirs.end()) {
      result.only_in_ours.push_back(sample.evaluation);
      continue;
    }
    compare_row(sample, *row->second, log.columns, result);
    theirs.erase(row);
  }
  for (const auto& [evaluation, row] : theirs) result.only_in_log.push_back(evaluation);
  return result;
}

std::string describe(const LogComparison& comparison, const EngineLog& log) {
  std::string text;
  if (comparison.first_difference) {
    const LogDifference& first = *comparison.first_difference;
    text =
        fmt::format("first difference: evaluation {}, {}: ours `{}`, {}:{} says `{}` ({} of {} cells differ)",
                    first.evaluation, first.column, first.ours, log.name, first.log_line, shortened(first.theirs, 60),
                    grouped(comparison.cells_differing), grouped(comparison.cells_compared));
  } else {
    text = fmt::format("{} cells of {} calls compared with {}, none differs", grouped(comparison.cells_compared),
                       grouped(comparison.rows_compared), log.name);
  }
  const auto lacks = [&](const std::vector<Count>& ordinals, std::string_view side) {
    if (!ordinals.empty()) {
      text += fmt::format("; {} calls only in {}, the first is {}", grouped(static_cast<Count>(ordinals.size())), side,
                          ordinals.front());
    }
  };
  lacks(comparison.only_in_log, "the log");
  lacks(comparison.only_in_ours, "the replay");
  return text;
}

}  // namespace kvreplay::reports
