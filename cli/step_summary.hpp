// GitHub's summary of a step: Markdown appended to the file the variable GITHUB_STEP_SUMMARY names.
#pragma once

#include "reports/result.hpp"

#include <string>

namespace kvreplay::cli {

// Appends where the variable is set; a summary that would pass GitHub's 1 MiB a step, or cannot be written, is left out
// with a note on stderr, since the results are elsewhere.
void append_step_summary(const std::string& markdown);
void append_step_summary(const reports::ResultFile& results);

}  // namespace kvreplay::cli
