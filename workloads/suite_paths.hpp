// The workload files a line of a suite means: one path, or a glob.
#pragma once

#include "workloads/suite.hpp"

#include <string>
#include <vector>

namespace kvreplay::workloads {

// Whether a path has *, ? or [.
bool is_glob(const std::string& pattern);

// Files at `pattern`, seen from the folder of `suite_path`: the path itself if it is a file, or every file that fits
// the glob, sorted by bytes. * and ? stop at folders, and names that begin with a dot are not meant. Empty: there is
// none.
std::vector<SuiteWorkload> workloads_at(const std::string& suite_path, const std::string& pattern);

}  // namespace kvreplay::workloads
