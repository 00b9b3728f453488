// One side of a comparison: the runs of one or more result files, those of the same cell joined.
#pragma once

#include "reports/result.hpp"

#include <string>
#include <utility>
#include <vector>

namespace kvreplay::reports {

struct NamedResult {
  std::string name;  // path, as given
  ResultFile file;
};

struct SideRepetition {
  std::size_t file = 0;  // repetitions of one file and index were interleaved with each other
  Repetition repetition;
};

struct SideCell {
  RunResult run;              // without repetitions and timeline
  std::size_t num_files = 0;  // that have it
  std::vector<SideRepetition> repetitions;
};

using Fields = std::vector<std::pair<std::string, std::string>>;

struct Side {
  std::vector<std::string> names;
  std::vector<Fields> configs, provenances;  // per file
  std::vector<SideCell> cells;
  std::vector<std::string> notes;  // what a reader must know of how the files were joined
};

// What makes a run the same run on both sides: hash of the workload, policy and its options, every dimension of the
// model. Names are JSON pointers of the result file with dots ("model.sliding_window").
Fields identity_fields(const RunResult& run);
// The first of `before` that `now` has otherwise, or empty: "model.num_layers: 6, now 8".
std::vector<std::string> differences(const Fields& before, const Fields& now);

// The value of a key, or "" where it is missing.
std::string field(const Fields& fields, const std::string& key);

// Joins files. Throws NotComparable where they hold different counters or outcomes of one cell, or nothing at all;
// `what` is "baseline" or "candidate".
Side side_of(std::vector<NamedResult> files, const std::string& what);

}  // namespace kvreplay::reports
