#include "reports/compare/preemption.hpp"

#include "reports/compare/median_ratio.hpp"

#include <algorithm>

namespace kvreplay::reports {
namespace {

// Slopes between any two repetitions; of many, each with its next ones only.
void add_slopes(std::vector<double>& slopes, const DisturbedTimes& side) {
  constexpr std::size_t most_partners = 100;
  for (std::size_t i = 0; i < side.ns.size(); ++i) {
    for (std::size_t j = i + 1; j < std::min(side.ns.size(), i + 1 + most_partners); ++j) {
      const double more = side.switches[j] - side.switches[i];
      if (more != 0) slopes.push_back((side.ns[j] - side.ns[i]) / more);
    }
  }
}

bool is_known(const DisturbedTimes& side) { return side.switches.size() == side.ns.size(); }

}  // namespace

double cost_of_switch_ns(const DisturbedTimes& baseline, const DisturbedTimes& candidate) {
  if (!is_known(baseline) || !is_known(candidate)) return 0;
  std::vector<double> slopes;
  add_slopes(slopes, baseline);
  add_slopes(slopes, candidate);
  return std::max(0.0, median_of(std::move(slopes)));
}

void adjust(DisturbedTimes& baseline, DisturbedTimes& candidate) {
  const double cost = cost_of_switch_ns(baseline, candidate);
  if (cost <= 0) return;
  std::vector<double> all = baseline.switches;
  all.insert(all.end(), candidate.switches.begin(), candidate.switches.end());
  const double usual = median_of(std::move(all));
  for (DisturbedTimes* side : {&baseline, &candidate}) {
    for (std::size_t i = 0; i < side->ns.size(); ++i) {
      side->ns[i] = std::max(1.0, side->ns[i] - cost * (side->switches[i] - usual));
    }
  }
}

}  // namespace kvreplay::reports
