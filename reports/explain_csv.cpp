#include "reports/explain_csv.hpp"

#include "reports/csv.hpp"
#include "reports/sample_columns.hpp"

namespace kvreplay::reports {

std::string explain_csv_header() {
  std::vector<std::string> names;
  for (const SampleColumn& column : sample_columns()) names.emplace_back(column.name);
  std::string out;
  append_csv_record(out, names);
  return out;
}

std::string explain_csv_record(const Sample& sample) {
  std::vector<std::string> cells;
  for (const SampleColumn& column : sample_columns()) cells.push_back(text_of(column.cell(sample)));
  std::string out;
  append_csv_record(out, cells);
  return out;
}

std::string explain_csv(std::span<const Sample> samples) {
  std::string out = explain_csv_header();
  for (const Sample& sample : samples) out += explain_csv_record(sample);
  return out;
}

}  // namespace kvreplay::reports
