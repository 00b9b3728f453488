#include "sim/available_memory.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace kvreplay::sim {
namespace {

std::optional<std::int64_t> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return {};
  return value;
}

std::optional<std::int64_t> number_in(const char* path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return {};
  return leading_number(line);  // "max" gives nothing
}

std::int64_t kernel_available() {
  constexpr std::string_view key = "MemAvailable:";
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) return leading_number(std::string_view(line).substr(key.size())).value_or(0) * 1024;
  }
  return 0;
}

}  // namespace

std::int64_t available_memory_bytes() {
  const std::int64_t kernel = kernel_available();
  const auto limit = number_in("/sys/fs/cgroup/memory.max");
  const auto used = number_in("/sys/fs/cgroup/memory.current");
  if (!limit || !used) return kernel;
  const std::int64_t left = std::max<std::int64_t>(1, *limit - *used);
  return kernel == 0 ? left : std::min(kernel, left);
}

}  // namespace kvreplay::sim
