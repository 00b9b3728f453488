// The one place where exceptions become messages and exit codes.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace kvreplay::cli {

// The candidate nearest to `given` by edit distance, or empty if none is near.
std::string nearest(const std::string& given, const std::vector<std::string>& candidates);

// Runs `command` and returns its exit code; prints what it throws on stderr and returns the code for that.
int guarded(const std::function<int()>& command);

}  // namespace kvreplay::cli
