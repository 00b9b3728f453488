// Joins the results of shards into the one result an unsharded run would have written, or says why they are not parts
// of one run.
#pragma once

#include "reports/result.hpp"

#include <stdexcept>
#include <string>
#include <vector>

namespace kvreplay::reports {

struct ShardResult {
  std::string name;  // of its file, for messages
  ResultFile file;
};

// The files are not one whole set: one is no shard, two are the same one, some are missing or unfinished.
class MergeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// They are parts of different runs; the message names the field that differs, and both files.
class MixedResults : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// `shards` in any order, at least one. Cells are in the order of the unsharded run and budgets judged anew; provenance
// keeps every value the shards have, and "shards" says how many they were. Throws MergeError and MixedResults.
ResultFile merged(std::vector<ShardResult> shards);

}  // namespace kvreplay::reports
