// Another program, started and waited for.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace kvreplay::cli {

struct ChildEnd {
  int exit_code = 0;  // 128 + the signal's number if one ended it
  std::string err;    // the end of what it wrote to stderr, lines of printable text
};

// A program that failed at run time, by its own word (exit code 3) or by a signal.
class ChildFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Starts `words[0]` with its arguments, without input and with stdout thrown away, and waits for its end. When this
// program is interrupted, so is the other one, and killed where it does not end soon. GITHUB_STEP_SUMMARY is hidden
// from it: what it measures is not the summary. Throws OptionError where it cannot be started.
ChildEnd run_child(const std::vector<std::string>& words);

// The path of the program that is running. Throws OptionError where the system does not tell.
std::string this_program();

}  // namespace kvreplay::cli
