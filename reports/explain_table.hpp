// explain's rows for a terminal, one line per evaluation.
#pragma once

#include "reports/result.hpp"

#include <span>
#include <string>

namespace kvreplay::reports {

// Exact numbers, grouped; before and after in one column ("18 > 38"); columns of sample_columns.hpp that are blank
// throughout are left out. As wide as it is: explain is read line by line. Rows that are not exact stand out in colour.
std::string explain_table(std::span<const Sample> samples, bool color);

}  // namespace kvreplay::reports
