#include "workloads/input_error.hpp"

#include <utility>

namespace kvreplay::workloads {
namespace {

std::string message(const std::string& file, SourceMark mark, const std::string& path, const std::string& problem) {
  std::string text = file;
  if (mark.line > 0) text += ":" + std::to_string(mark.line);
  if (mark.line > 0 && mark.column > 0) text += ":" + std::to_string(mark.column);
  for (const std::string& part : {path, problem}) {
    if (part.empty()) continue;
    if (!text.empty()) text += ": ";
    text += part;
  }
  return text;
}

}  // namespace

InputError::InputError(const std::string& file, SourceMark where, const std::string& path, const std::string& what,
                       std::string given_name, std::vector<std::string> valid)
    : std::runtime_error(message(file, where, path, what)),
      mark(where),
      place(path),
      problem(what),
      given(std::move(given_name)),
      candidates(std::move(valid)) {}

}  // namespace kvreplay::workloads
