// Result records the tests of the writers share, with numbers worked out by hand.
#pragma once

#include "reports/result.hpp"

#include <string>
#include <string_view>

namespace kvreplay::reports::tests {

// Sets one counter of a record that has it.
void set_counter(RunResult& result, std::string_view name, Count value);

// A completed run at depth plan: every exact metric, 24 evaluations, 1,000 tokens requested, `evaluated` of them
// evaluated, floors 71 and 70, everything else 0.
RunResult plan_run(const std::string& workload, const std::string& policy, Count evaluated);

// The same at depth compute, with `repetitions` repetitions of three evaluations that fed 18, 1 and 1 tokens and took
// 1,000, 10 and 20 us; repetition i takes i us more each.
RunResult timed_run(const std::string& workload, const std::string& policy, Count repetitions);

// A run that ended with capacity_exceeded at evaluation 12.
RunResult incomplete_run(const std::string& workload, const std::string& policy);

// One evaluation with every field set to something else.
Sample full_sample();
// One that fed nothing and has everything absent that can be.
Sample blank_sample();

// All of the above, a verification that failed, hostile names and odd provenance in one file.
ResultFile example_file();

// The example as a suite's: a kept and a broken budget, one not judged, and a broken one with hostile names.
ResultFile suite_file();

// Quotes, line breaks, markup, table and code marks, an escape sequence, invalid UTF-8, emoji, and 10,000 characters.
std::string hostile_name();

}  // namespace kvreplay::reports::tests
