// A fault in an input file, with its place.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace kvreplay::workloads {

// Line and column count from 1; 0: unknown.
struct SourceMark {
  int line = 0;
  int column = 0;
  friend bool operator==(SourceMark, SourceMark) = default;
};

class InputError : public std::runtime_error {
 public:
  // what() is "file:line:column: path: problem" (parts that are unknown are left out). `path` is the place inside the
  // document, such as events[2].decode.n. Callers that print may add the nearest of `candidates` to `given`.
  InputError(const std::string& file, SourceMark mark, const std::string& path, const std::string& problem,
             std::string given = {}, std::vector<std::string> candidates = {});

  SourceMark mark;
  std::string place, problem;  // `path` and `problem` as given
  std::string given;
  std::vector<std::string> candidates;
};

}  // namespace kvreplay::workloads
