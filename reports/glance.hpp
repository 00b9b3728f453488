// All workloads against all policies by one number, which is what a suite is looked at for first.
#pragma once

#include "reports/overview.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvreplay::reports {

struct Glance {
  std::vector<std::string> policies;  // in order of first appearance
  std::vector<std::vector<OverviewCell>>
      rows;  // per workload: its label, then a cell per policy, "-" where it has none
};

// `title` names a column of overviews ("x floor").
Glance glance_of(std::span<const Overview> overviews, std::string_view title);

}  // namespace kvreplay::reports
