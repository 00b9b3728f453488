// A name or option nobody knows, or a value out of range, with what would have been valid.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace kvreplay::policies {

class OptionError : public std::invalid_argument {
 public:
  // `problem` is a sentence without a suggestion; callers that print choose the nearest of `valid` to `what_was_given`.
  explicit OptionError(const std::string& problem, std::string what_was_given = {}, std::vector<std::string> valid = {})
      : std::invalid_argument(problem), given(std::move(what_was_given)), candidates(std::move(valid)) {}

  std::string given;
  std::vector<std::string> candidates;
};

}  // namespace kvreplay::policies
