// The table people look at first: the policies of one workload and their key numbers, for the terminal and Markdown.
#pragma once

#include "reports/labels.hpp"
#include "reports/result.hpp"

#include <span>
#include <string>
#include <vector>

namespace kvreplay::reports {

enum class Emphasis : std::uint8_t { none, best, warning, failure };

struct OverviewCell {
  std::string text;  // of any bytes; renderers make it printable
  Emphasis emphasis = Emphasis::none;
};

struct OverviewColumn {
  std::string title;
  std::string meaning;  // for the legend; empty where the title says it
  bool is_number = true;
  bool is_optional = false;  // the first to go where space is short
};

struct Overview {
  std::string workload;  // label
  std::string path, title;
  std::string setting;  // "tiny-gemma2, 6 layers (3 sliding, window 64), fp32 cache, depth compute, 3 repetitions"
  std::vector<OverviewColumn> columns;          // the first is the policy
  std::vector<std::vector<OverviewCell>> rows;  // one per result of the group, in their order
  std::vector<std::string> notes;               // incomplete runs, differences found, wrong rows served
};

// Sentences about a run that did not complete, and about one whose verification failed.
std::string incomplete_note(const RunResult& result);
std::string difference_note(const RunResult& result);

// Completed, and as far as anyone knows with the outputs of a run without a cache: may be called best.
bool is_comparable(const RunResult& result);

enum class Units : std::uint8_t { human, exact };

// Latency columns only where something was timed, the verification's only where something was verified. Best (lowest)
// numbers are marked where not all are equal, among completed runs whose rows are right: a policy that serves wrong
// rows wins nothing by it. Incomplete runs have no ratios.
Overview overview_of(std::span<const RunResult> results, const Group& group, const std::string& label, Units units);

struct Verdict {
  Emphasis emphasis = Emphasis::none;  // failure: a verification failed; warning: a run is incomplete; else best
  std::string text;                    // one sentence
};
Verdict verdict_of(std::span<const RunResult> results);
// The same with the budgets of a file; a broken one is a failure.
Verdict verdict_of(const ResultFile& file);

}  // namespace kvreplay::reports
