// A suite: which workloads run through which policies, and the bounds their numbers must keep (docs/suites.md). Values
// and the strict reader of kv-suite/1 files.
//
// Policies, metrics and models are texts here: what they mean is checked by whoever knows them, with fault().
#pragma once

#include "workloads/input_error.hpp"
#include "workloads/workload.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvreplay::workloads {

// A text of the file and its place there.
struct PlacedText {
  std::string text;
  SourceMark mark;
  std::string place;  // "budgets[2].policy"
};

// A bound: of an exact number, or of a ratio where `over` or `against` says so.
struct SuiteBudget {
  SourceMark mark;
  std::string place;                   // "budgets[2]"
  std::optional<PlacedText> workload;  // id, path or glob; absent: every workload
  std::optional<PlacedText> policy;    // absent: every policy
  PlacedText metric;
  std::optional<PlacedText> over;                 // divided by this number of the same run
  std::optional<PlacedText> against;              // divided by the same number of this policy
  std::optional<Count> least, most;               // without a ratio
  std::optional<double> least_ratio, most_ratio;  // of one
  bool is_ratio() const { return over.has_value() || against.has_value(); }
};

struct SuiteWorkload {
  std::string path;      // to open
  std::string relative;  // seen from the suite's folder; what budgets name
};

struct Suite {
  std::string path, title;
  std::vector<SuiteWorkload> workloads;  // in the order of the file, a glob's sorted; none twice
  std::vector<PlacedText> policies;      // empty: not given, as the following
  std::optional<PlacedText> model, depth;
  std::optional<Count> repetitions;
  std::vector<SuiteBudget> budgets;
};

inline constexpr std::size_t max_suite_workloads = 10'000, max_suite_policies = 1'000, max_suite_budgets = 10'000;

// Whether a text says it is a suite, of any version and however broken.
bool names_suite(std::string_view text);
// The same of a file; false for one that cannot be read, which its reader will complain about.
bool is_suite_file(const std::string& path);

// Reads and checks a suite: syntax, keys, ranges, and that every workload it names is a file. Throws InputError naming
// file, line, column and path for every fault.
Suite read_suite(const std::string& path);
// The same from memory; workloads are looked for beside `path`.
Suite read_suite_text(std::string_view text, const std::string& path);

// Whether a budget's `workload` means this one: its id, its path, or a glob over its path.
bool names_workload(const std::string& wanted, const SuiteWorkload& workload, const std::string& id);

// An error at a text of a suite.
InputError fault(const Suite& suite, const PlacedText& at, const std::string& problem,
                 std::vector<std::string> candidates = {});

}  // namespace kvreplay::workloads
