#include "reports/glance.hpp"

#include <algorithm>

namespace kvreplay::reports {
namespace {

OverviewCell cell_of(const Overview& overview, const std::string& policy, std::string_view title) {
  const auto column = std::find_if(overview.columns.begin(), overview.columns.end(),
                                   [title](const OverviewColumn& other) { return other.title == title; });
  const auto row = std::find_if(overview.rows.begin(), overview.rows.end(),
                                [&](const auto& cells) { return cells[0].text == policy; });
  if (row == overview.rows.end() || column == overview.columns.end()) return {"-", Emphasis::none};
  return (*row)[static_cast<std::size_t>(column - overview.columns.begin())];
}

}  // namespace

Glance glance_of(std::span<const Overview> overviews, std::string_view title) {
  Glance glance;
  for (const Overview& overview : overviews) {
    for (const std::vector<OverviewCell>& row : overview.rows) {
      const std::string& policy = row[0].text;
      const auto known = std::find(glance.policies.begin(), glance.policies.end(), policy);
      if (known == glance.policies.end()) glance.policies.push_back(policy);
    }
  }
  for (const Overview& overview : overviews) {
    std::vector<OverviewCell> row{{overview.workload, Emphasis::none}};
    for (const std::string& policy : glance.policies) row.push_back(cell_of(overview, policy, title));
    glance.rows.push_back(std::move(row));
  }
  return glance;
}

}  // namespace kvreplay::reports
