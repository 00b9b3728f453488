// Reads a file into memory.
#pragma once

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kvreplay::reports {

// "FILE: problem": missing, a directory, not readable.
class FileReadError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Hands the bytes of a file to `take`, in pieces that are valid during the call, in order. Throws FileReadError.
void each_piece_of_file(const std::string& path, const std::function<void(std::string_view)>& take);

// All bytes of a file or of what can be read like one (a pipe, /dev/stdin). More than `most_bytes` is an error: a
// device that never ends must not take the machine's memory.
std::string whole_file(const std::string& path, std::size_t most_bytes = std::size_t{1} << 30);

}  // namespace kvreplay::reports
