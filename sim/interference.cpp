#include "sim/interference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>

namespace kvreplay::sim {
namespace {

std::string content_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// v2, then v1.
std::optional<reports::Count> throttled_now() {
  if (const auto periods = throttled_periods(content_of("/sys/fs/cgroup/cpu.stat"))) return periods;
  return throttled_periods(content_of("/sys/fs/cgroup/cpu/cpu.stat"));
}

}  // namespace

std::optional<reports::Count> throttled_periods(std::string_view cpu_stat) {
  constexpr std::string_view key = "nr_throttled ";
  for (std::size_t begin = 0; begin < cpu_stat.size();) {
    const std::size_t end = std::min(cpu_stat.find('\n', begin), cpu_stat.size());
    const std::string_view line = cpu_stat.substr(begin, end - begin);
    begin = end + 1;
    if (!line.starts_with(key)) continue;
    reports::Count periods = 0;
    const auto parsed = std::from_chars(line.data() + key.size(), line.data() + line.size(), periods);
    if (parsed.ec != std::errc{} || parsed.ptr != line.data() + line.size()) return std::nullopt;
    return periods;
  }
  return std::nullopt;
}

std::optional<double> load_of(std::string_view loadavg) {
  double load = 0;
  const auto parsed = std::from_chars(loadavg.data(), loadavg.data() + loadavg.size(), load);
  if (parsed.ec != std::errc{} || load < 0) return std::nullopt;
  return load;
}

InterferenceMeter::InterferenceMeter() : load_(content_of("/proc/loadavg")), throttled_(throttled_now()) {
  while (!load_.empty() && load_.back() == '\n') load_.pop_back();
}

std::vector<std::pair<std::string, std::string>> InterferenceMeter::entries() const {
  const std::optional<reports::Count> now = throttled_now();
  return {{"load_average_start", load_.empty() ? "unknown" : load_},
          {"cgroup_throttled_periods", now && throttled_ ? fmt::format("{}", *now - *throttled_) : "unknown"}};
}

std::vector<std::string> InterferenceMeter::warnings(int threads, int cpus) const {
  std::vector<std::string> list;
  const std::optional<double> load = load_of(load_);
  if (load && *load + threads > cpus + 0.5) {
    list.push_back(fmt::format(
        "other programs kept this machine busy when the run began (load average {:.2f}, {} CPUs): times are noisy, "
        "counters are not",
        *load, cpus));
  }
  const std::optional<reports::Count> now = throttled_now();
  if (now && throttled_ && *now > *throttled_) {
    list.push_back(fmt::format("the CPU quota throttled this run in {} periods: times are those of a slower machine",
                               *now - *throttled_));
  }
  return list;
}

}  // namespace kvreplay::sim
