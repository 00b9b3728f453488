#include "cli/step_summary.hpp"

#include "cli/terminal.hpp"
#include "reports/markdown.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace kvreplay::cli {
namespace {

const char* summary_path() {
  const char* path = std::getenv("GITHUB_STEP_SUMMARY");
  return path != nullptr && *path != '\0' ? path : nullptr;
}

}  // namespace

void append_step_summary(const std::string& markdown) {
  const char* path = summary_path();
  if (path == nullptr) return;
  constexpr std::uintmax_t most_bytes = 1 << 20;
  std::error_code error;
  const bool exists = std::filesystem::exists(path, error);
  const std::uintmax_t before = exists ? std::filesystem::file_size(path, error) : 0;
  if (!error && before + markdown.size() > most_bytes) {
    say(fmt::format("note: {} would pass 1 MiB; no summary appended", path));
    return;
  }
  std::ofstream file(path, std::ios::binary | std::ios::app);
  if (!(file << markdown).flush()) say(fmt::format("note: {} cannot be written; no summary appended", path));
}

void append_step_summary(const reports::ResultFile& results) {
  if (summary_path() != nullptr) append_step_summary(reports::write_markdown(results) + "\n");
}

}  // namespace kvreplay::cli
