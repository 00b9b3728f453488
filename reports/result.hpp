// What was measured: plain records that every writer reads and nobody else formats.
//
// Counters are exact integers under the names of metrics.hpp; times are integers of nanoseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kvreplay::reports {

using Count = std::int64_t;
using Number = std::variant<std::monostate, Count, double>;  // monostate: not measured, not given

// Name -> value, in the order of the metric table.
using Counters = std::vector<std::pair<std::string, Count>>;

// How a run ended (docs/semantics.md, "Outcomes").
struct Outcome {
  std::string kind = "completed";   // capacity_exceeded rewind_refused out_of_memory limit_reached interrupted
  std::optional<Count> evaluation;  // ordinal of the evaluation that could not be done
  std::optional<int> line;          // of its event in the workload file
  std::optional<Count> wanted;      // tokens, or bytes for out_of_memory
  std::optional<Count> available;
  std::string message;  // a sentence for people
  bool completed() const { return kind == "completed"; }
};

// Nearest-rank percentiles of n latencies; p99 only for n >= 100. All absent for n = 0.
struct Percentiles {
  Count n = 0;
  Count sum = 0;
  std::optional<Count> min, p50, p90, p99, max;
};

// Times of one repetition at alloc or compute depth.
struct Latency {
  Count total_ns = 0;  // sum over evaluations
  Percentiles evaluation_ns;
  std::optional<Count> time_to_first_token_ns;          // first evaluation
  Percentiles inter_token_ns;                           // evaluations that fed exactly one token
  std::vector<std::pair<std::string, Count>> parts_ns;  // admit projections attention mlp store head
};

// What the operating system says about one repetition; absent where it cannot tell.
struct ProcessUse {
  std::optional<Count> cpu_ns;  // user + system time of all threads
  std::optional<Count> rss_start_bytes, rss_end_bytes, rss_peak_bytes;
  std::optional<Count> workspace_bytes;  // activations and scratch memory of the stack, apart from the cache
  std::optional<Count> minor_faults, major_faults, voluntary_switches, involuntary_switches;
};

struct Repetition {
  Count index = 0;
  Count run_order = 0;             // place of this run among all runs of the process
  std::optional<Latency> latency;  // alloc and compute depth
  std::optional<ProcessUse> process;
  std::vector<Count> evaluation_ns;  // one per evaluation; empty above 100,000 evaluations
};

// One evaluation, for explain and the timeline. bytes: all layers, K and V.
struct Sample {
  Count evaluation = 0;
  std::string sequence;
  int line = 0;
  Count length = 0, common_prefix = 0, held_before = 0, kept = 0, fed = 0;
  std::optional<Count> first_position;
  std::optional<Count> capacity_before, capacity_after;
  Count held_after = 0;
  Count bytes_before = 0, bytes_after = 0;
  std::string action, cause;  // cause: empty when nothing was recomputed
  Count tokens_recomputed = 0;
  std::string new_storage;  // "first", "yes" or empty
  Count resets = 0;
  std::optional<Count> crop_to;
  std::optional<bool> exact;  // absent where nothing was evaluated (refused, exceeded)
  Count bytes_copied = 0, bytes_zeroed = 0, transient_bytes = 0;
  Count live_global_bytes = 0, live_sliding_bytes = 0, reserved_global_bytes = 0, reserved_sliding_bytes = 0;
  std::optional<Count> latency_ns;
};

struct VerificationFailure {
  Count evaluation = 0;
  int line = 0;
  Count position = 0;
  std::string where;  // "logits" or "layer 3"
  double difference = 0;
};

// Outputs against a cache-less run.
struct Verification {
  Count evaluations_compared = 0, evaluations_differing = 0;
  double tolerance = 0;             // |difference| <= tolerance * (1 + |reference|)
  double max_difference_exact = 0;  // over evaluations the policy claims exact
  std::optional<VerificationFailure> first_difference;
  // Differing evaluations the policy claimed exact, and equal ones it claimed wrong: both must be empty.
  std::vector<Count> unexpected_differences, unexpected_equalities;
  std::vector<Count> differing;  // ordinals
  Count claimed_inexact = 0;     // evaluations the policy itself says are wrong
  bool passed() const { return evaluations_differing == 0; }
};

struct WorkloadIdentity {
  std::string id, title, path, sha256;
};
struct PolicyIdentity {
  std::string name, spec;
  std::vector<std::pair<std::string, std::string>> options;
};
struct ModelIdentity {
  std::string profile;
  Count num_layers = 0, num_sliding_layers = 0, hidden_size = 0, num_heads = 0, num_kv_heads = 0, head_dim = 0;
  Count intermediate_size = 0, sliding_window = 0, max_positions = 0, vocab_size = 0, row_bytes = 0;
  std::string cache_dtype, weights;  // weights: "random, seed 1" or the checkpoint's name
};

// One cell: a workload through a policy.
struct RunResult {
  std::string suite;  // path of the suite it belongs to; empty: none
  WorkloadIdentity workload;
  PolicyIdentity policy;
  ModelIdentity model;
  std::string depth;  // plan alloc compute
  Outcome outcome;
  Counters counters;
  std::vector<Repetition> repetitions;
  std::vector<Count> evaluation_fed;  // tokens fed, one per evaluation; empty where Repetition::evaluation_ns is
  std::vector<Sample> timeline;       // at most ~2,000 points, peaks kept
  std::optional<Verification> verification;
};

struct Provenance {
  std::vector<std::pair<std::string, std::string>>
      entries;  // ordered; kvreplay_commit, compiler, flags, cpu_model, ...
};

// A bound a suite sets on one number of one cell, and whether that keeps it (budgets.hpp). All bounds are inclusive.
struct BudgetLine {
  std::string suite;  // path of the file
  int line = 0;       // in it
  std::string workload_path, policy;
  std::string metric;   // of the table of metrics
  std::string over;     // the value is divided by this number of the same run; empty: not
  std::string against;  // the value is divided by the same number of this policy; empty: not
  Number least, most;
  Number value;                        // absent where it is not defined
  std::string verdict = "not_judged";  // passed broken not_judged
  std::string reason;                  // why it is not judged, or broken without a value
};

// Part `index` of `count` of a run, from 1: every count-th of its cells.
struct Shard {
  Count index = 1, count = 1, num_cells = 0;
};

struct ResultFile {
  std::vector<std::pair<std::string, std::string>> config;  // resolved command line
  Provenance provenance;
  std::optional<Shard> shard;
  std::vector<BudgetLine> budgets;
  std::vector<RunResult> results;
};

}  // namespace kvreplay::reports
