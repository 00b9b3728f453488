#include "sim/machine.hpp"

#include "sim/kernels/kernel_table.hpp"

#include "sim/build_info.hpp"

#include <Eigen/Core>

#include <fmt/format.h>

#include <omp.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <fstream>

namespace kvreplay::sim {
namespace {

std::string first_line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int> cpus_of(std::optional<std::int64_t> quota, std::optional<std::int64_t> period) {
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<int>(std::max<std::int64_t>(1, *quota / *period));
}

std::optional<int> cgroup_cpus() {
  if (const auto cpus = cpus_of_quota_v2(first_line_of("/sys/fs/cgroup/cpu.max"))) return cpus;
  return cpus_of_quota_v1(first_line_of("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"),
                          first_line_of("/sys/fs/cgroup/cpu/cpu.cfs_period_us"));
}

int affinity_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  return std::max(1, CPU_COUNT(&set));
}

// The value of a "key : value" line of a /proc file.
std::string value_in(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? std::string{} : line.substr(start);
  }
  return {};
}

std::string or_unknown(std::string text) { return text.empty() ? "unknown" : text; }

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec);
}

std::string data_cache_sizes() {
  std::string sizes;
  for (int index = 0; index < 8; ++index) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    const std::string level = first_line_of(folder + "level"), type = first_line_of(folder + "type");
    if (level.empty() || type == "Instruction") continue;
    sizes += fmt::format("{}L{} {}", sizes.empty() ? "" : ", ", level, first_line_of(folder + "size"));
  }
  return or_unknown(sizes);
}

std::string host_name() {
  utsname names{};
  return uname(&names) == 0 ? names.nodename : "unknown";
}

}  // namespace

std::optional<int> cpus_of_quota_v2(std::string_view cpu_max) {
  const auto space = cpu_max.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  return cpus_of(whole_number(cpu_max.substr(0, space)), whole_number(cpu_max.substr(space + 1)));
}

std::optional<int> cpus_of_quota_v1(std::string_view quota_us, std::string_view period_us) {
  return cpus_of(whole_number(quota_us), whole_number(period_us));
}

int available_cpus() { return std::min(affinity_cpus(), cgroup_cpus().value_or(affinity_cpus())); }

std::string instruction_set() { return std::string(available_kernels().front()->name); }

reports::Provenance provenance(int threads) {
  const auto quota = cgroup_cpus();
  reports::Provenance provenance;
  provenance.entries = {
      {"date", utc_now()},
      {"host_name", host_name()},
      {"kvreplay_version", build_info::version},
      {"git_commit", build_info::git_commit},
      {"git_dirty", build_info::git_dirty},
      {"compiler", build_info::compiler},
      {"flags", build_info::flags},
      {"build_type", build_info::build_type},
      {"eigen", fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION)},
      {"simd", Eigen::SimdInstructionSetsInUse()},
      {"kernels_instruction_set", instruction_set()},
      {"openmp", fmt::format("{}", _OPENMP)},
      {"cpu_model", or_unknown(value_in("/proc/cpuinfo", "model name"))},
      {"cpu_mhz", or_unknown(value_in("/proc/cpuinfo", "cpu MHz"))},
      {"num_cpus", fmt::format("{}", sysconf(_SC_NPROCESSORS_ONLN))},
      {"affinity_cpus", fmt::format("{}", affinity_cpus())},
      {"affinity_list", or_unknown(value_in("/proc/self/status", "Cpus_allowed_list"))},
      {"cgroup_quota_cpus", quota ? fmt::format("{}", *quota) : "none"},
      {"threads", fmt::format("{}", threads)},
      {"caches", data_cache_sizes()},
      {"page_bytes", fmt::format("{}", sysconf(_SC_PAGESIZE))},
      {"transparent_hugepages", or_unknown(first_line_of("/sys/kernel/mm/transparent_hugepage/enabled"))},
      {"governor", or_unknown(first_line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))},
      {"load_average", or_unknown(first_line_of("/proc/loadavg"))},
      {"clock", "steady_clock, nanoseconds"},
      {"percentiles", "nearest rank"},
  };
  return provenance;
}

std::string version_text() {
  return fmt::format("kvreplay {} (commit {}{})\n{}, {}, {}, Eigen {}.{}.{} with {}", build_info::version,
                     build_info::git_commit, build_info::git_dirty == std::string_view("yes") ? ", modified" : "",
                     build_info::compiler, build_info::build_type, build_info::flags, EIGEN_WORLD_VERSION,
                     EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION, Eigen::SimdInstructionSetsInUse());
}

}  // namespace kvreplay::sim
