#include "reports/whole_file.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

[[noreturn]] void fail(const std::string& path, int error) {
  throw FileReadError(fmt::format("{}: {}", path, std::generic_category().message(error)));
}

}  // namespace

std::string whole_file(const std::string& path, std::size_t most_bytes) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) fail(path, errno);
  std::string text;
  constexpr std::size_t piece = 1 << 16;
  for (;;) {
    const std::size_t before = text.size();
    text.resize(before + piece);
    const std::size_t got = std::fread(text.data() + before, 1, piece, file.get());
    text.resize(before + got);
    if (text.size() > most_bytes) {
      throw FileReadError(fmt::format("{}: is larger than {} MiB", path, most_bytes >> 20));
    }
    if (got == piece) continue;
    if (std::ferror(file.get()) != 0) fail(path, errno);  // a directory opens and fails here
    return text;
  }
}

}  // namespace kvreplay::reports
