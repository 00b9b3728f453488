// Reads a file into memory.
#pragma once

#include <stdexcept>
#include <string>

namespace kvreplay::reports {

// "FILE: problem": missing, a directory, not readable.
class FileReadError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// All bytes of a file or of what can be read like one (a pipe, /dev/stdin).
std::string whole_file(const std::string& path);

}  // namespace kvreplay::reports
