// What a run's results say in words, and which exit code they give.
#pragma once

#include "cli/options.hpp"
#include "reports/result.hpp"

#include <string>
#include <utility>
#include <vector>

namespace kvreplay::cli {

// One line per verified cell on stdout: equal, or where it differs first and whether the policy says so itself.
void print_verdicts(const reports::ResultFile& results);

// 130 for an interruption, 1 for a failed verification, a broken budget or, with `outcome` in `fail_on`, a run that did
// not complete.
int exit_code_of(const reports::ResultFile& results, const std::vector<std::string>& fail_on);

// The resolved command line, for the result file.
std::vector<std::pair<std::string, std::string>> config_of(const std::string& command, const RunTexts& texts);

}  // namespace kvreplay::cli
