#include "reports/whole_file.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>
#include <vector>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

[[noreturn]] void fail(const std::string& path, int error) {
  throw FileReadError(fmt::format("{}: {}", path, std::generic_category().message(error)));
}

}  // namespace

void each_piece_of_file(const std::string& path, const std::function<void(std::string_view)>& take) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) fail(path, errno);
  std::vector<char> piece(std::size_t{1} << 18);
  for (;;) {
    const std::size_t got = std::fread(piece.data(), 1, piece.size(), file.get());
    if (got < piece.size() && std::ferror(file.get()) != 0) fail(path, errno);  // a directory opens and fails here
    if (got > 0) take({piece.data(), got});
    if (got < piece.size()) return;
  }
}

std::string whole_file(const std::string& path, std::size_t most_bytes) {
  std::string text;
  each_piece_of_file(path, [&](std::string_view piece) {
    text += piece;
    if (text.size() > most_bytes) throw FileReadError(fmt::format("{}: is larger than {} MiB", path, most_bytes >> 20));
  });
  return text;
}

}  // namespace kvreplay::reports
