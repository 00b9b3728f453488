// Budgets: bounds a suite sets on numbers of its cells, judged on what was measured and told in one line each.
#pragma once

#include "reports/result.hpp"

#include <string>
#include <vector>

namespace kvreplay::reports {

// Sets value, verdict and reason of every budget from the results of the file. Broken: a bound is not kept, the run did
// not complete, or a ratio is not defined. Not judged: the cell is not in the file (another shard's, interrupted), a
// time was not measured at this depth, or two times were not measured in the same run.
void judge_budgets(ResultFile& file);

struct BudgetTally {
  Count passed = 0, broken = 0, not_judged = 0;
};
BudgetTally tally_of(const ResultFile& file);

// "3 of 40 budgets broken, 2 not judged"; empty without budgets.
std::string budget_summary(const ResultFile& file);

// "tokens_evaluated", "tokens_evaluated / tokens_floor_single", "latency.total_ns / that of discard".
std::string quantity_of(const BudgetLine& budget);
// "at most 149", "from 1 to 2.5".
std::string bounds_of(const BudgetLine& budget);
// "149, at most 149": value (or reason) and bounds.
std::string finding_of(const BudgetLine& budget);

// Per budget the label of its workload as the tables have it, or its path where no run of the file knows that.
std::vector<std::string> budget_workloads(const ResultFile& file);

}  // namespace kvreplay::reports
