// What this process may use of the machine, and how the program was built: the provenance of a result.
#pragma once

#include "reports/result.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace kvreplay::sim {

// CPUs a cgroup quota allows, rounded down but at least 1: "200000 100000" of a v2 cpu.max, or a v1 quota and period.
// nullopt: no limit ("max", -1, unreadable).
std::optional<int> cpus_of_quota_v2(std::string_view cpu_max);
std::optional<int> cpus_of_quota_v1(std::string_view quota_us, std::string_view period_us);

// Threads worth starting: CPUs of the affinity mask, fewer if a cgroup quota is smaller.
int available_cpus();

// Everything a reader needs to judge times: commit, compiler, flags, CPU, quota, THP, governor, load.
reports::Provenance provenance(int threads);

// The instruction set the fast kernels use here: "avx512", "avx2", ...
std::string instruction_set();

// "kvreplay 0.1.0 (commit abc, dirty), GCC 12.2.0, Release, ..." for --version.
std::string version_text();

}  // namespace kvreplay::sim
