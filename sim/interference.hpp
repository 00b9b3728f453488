// What disturbed a run from outside: other programs at its beginning, throttling by a CPU quota while it ran.
#pragma once

#include "reports/result.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kvreplay::sim {

// nr_throttled of a cgroup's cpu.stat (v1 and v2): periods in which its quota was used up. nullopt where it is not
// there.
std::optional<reports::Count> throttled_periods(std::string_view cpu_stat);

// The one-minute average that opens /proc/loadavg; nullopt where it is none.
std::optional<double> load_of(std::string_view loadavg);

class InterferenceMeter {
 public:
  InterferenceMeter();  // starts

  // load_average_start and cgroup_throttled_periods (since the start, or "unknown"), for the provenance.
  std::vector<std::pair<std::string, std::string>> entries() const;
  // Sentences for a person; none where nothing disturbed. `threads` of the run, CPUs it may use.
  std::vector<std::string> warnings(int threads, int cpus) const;

 private:
  std::string load_;
  std::optional<reports::Count> throttled_;
};

}  // namespace kvreplay::sim
