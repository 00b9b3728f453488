#include "sim/process_use.hpp"

#include <sys/resource.h>

#include <charconv>
#include <fstream>
#include <string>
#include <string_view>

namespace kvreplay::sim {
namespace {

// A "Key:   123 kB" line of /proc/self/status, in bytes.
std::optional<reports::Count> status_bytes(std::string_view key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(key)) continue;
    const auto digits = line.find_first_of("0123456789");
    if (digits == std::string::npos) return std::nullopt;
    reports::Count kib = 0;
    const auto parsed = std::from_chars(line.data() + digits, line.data() + line.size(), kib);
    if (parsed.ec != std::errc{}) return std::nullopt;
    return kib * 1024;
  }
  return std::nullopt;
}

void read_usage(reports::ProcessUse& use) {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return;
  const auto nanoseconds = [](const timeval& time) {
    return static_cast<reports::Count>(time.tv_sec) * 1'000'000'000 + static_cast<reports::Count>(time.tv_usec) * 1'000;
  };
  use.cpu_ns = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime);
  use.minor_faults = usage.ru_minflt;
  use.major_faults = usage.ru_majflt;
  use.voluntary_switches = usage.ru_nvcsw;
  use.involuntary_switches = usage.ru_nivcsw;
}

std::optional<reports::Count> difference(std::optional<reports::Count> end, std::optional<reports::Count> start) {
  if (!end || !start) return std::nullopt;
  return *end - *start;
}

}  // namespace

ProcessUseMeter::ProcessUseMeter() {
  std::ofstream clear_refs("/proc/self/clear_refs");
  clear_refs << "5";
  clear_refs.close();
  peak_was_reset_ = !clear_refs.fail();
  start_.rss_start_bytes = status_bytes("VmRSS:");
  read_usage(start_);
}

reports::ProcessUse ProcessUseMeter::finish() const {
  reports::ProcessUse use;
  read_usage(use);
  use.cpu_ns = difference(use.cpu_ns, start_.cpu_ns);
  use.minor_faults = difference(use.minor_faults, start_.minor_faults);
  use.major_faults = difference(use.major_faults, start_.major_faults);
  use.voluntary_switches = difference(use.voluntary_switches, start_.voluntary_switches);
  use.involuntary_switches = difference(use.involuntary_switches, start_.involuntary_switches);
  use.rss_start_bytes = start_.rss_start_bytes;
  use.rss_end_bytes = status_bytes("VmRSS:");
  if (peak_was_reset_) use.rss_peak_bytes = status_bytes("VmHWM:");
  return use;
}

}  // namespace kvreplay::sim
