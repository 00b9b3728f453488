#include "sim/machine.hpp"
#include "sim/process_use.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <vector>

namespace kvreplay::sim {

TEST_CASE("a container's CPU quota counts, in both versions of control groups") {
  CHECK(cpus_of_quota_v2("200000 100000") == 2);
  CHECK(cpus_of_quota_v2("150000 100000") == 1);
  CHECK(cpus_of_quota_v2("50000 100000") == 1);
  CHECK_FALSE(cpus_of_quota_v2("max 100000"));
  CHECK_FALSE(cpus_of_quota_v2(""));
  CHECK_FALSE(cpus_of_quota_v2("200000"));
  CHECK_FALSE(cpus_of_quota_v2("200000 0"));
  CHECK(cpus_of_quota_v1("400000", "100000") == 4);
  CHECK_FALSE(cpus_of_quota_v1("-1", "100000"));
  CHECK_FALSE(cpus_of_quota_v1("", ""));
  CHECK(available_cpus() >= 1);
}

TEST_CASE("provenance names what times depend on and leaves nothing blank") {
  const reports::Provenance found = provenance(2);
  for (const char* key : {"git_commit", "compiler", "flags", "build_type", "cpu_model", "caches", "cgroup_quota_cpus",
                          "affinity_cpus", "transparent_hugepages", "governor", "load_average", "threads"}) {
    INFO(key);
    const auto entry =
        std::find_if(found.entries.begin(), found.entries.end(), [key](const auto& e) { return e.first == key; });
    REQUIRE(entry != found.entries.end());
    CHECK_FALSE(entry->second.empty());
  }
}

TEST_CASE("the peak of resident memory is that of the stretch measured, not of one before") {
  constexpr std::size_t big_bytes = 96 << 20, small_bytes = 8 << 20;
  const auto peak_growth = [](std::size_t bytes) {
    const ProcessUseMeter meter;
    std::vector<char> touched(bytes, 1);
    CHECK(std::count(touched.begin(), touched.end(), 1) == static_cast<std::ptrdiff_t>(bytes));
    const reports::ProcessUse use = meter.finish();
    return use.rss_peak_bytes.value_or(0) - use.rss_start_bytes.value_or(0);
  };
  const reports::Count big = peak_growth(big_bytes);
  if (big == 0) {
    WARN("this system does not let a process reset its peak");
    return;
  }
  // Only the order: how many pages are resident when is the kernel's business.
  CHECK(peak_growth(small_bytes) < big);
}

}  // namespace kvreplay::sim
