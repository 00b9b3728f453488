// explain's rows as CSV: one record per evaluation, ready to be joined with an engine's log on the first column.
#pragma once

#include "reports/result.hpp"

#include <span>
#include <string>

namespace kvreplay::reports {

// The header record, columns of sample_columns.hpp.
std::string explain_csv_header();
// One record; for callers that stream.
std::string explain_csv_record(const Sample& sample);
// Header and records.
std::string explain_csv(std::span<const Sample> samples);

}  // namespace kvreplay::reports
