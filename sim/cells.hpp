// The parts a run is made of: loaded workloads with their models, and cells with their records.
#pragma once

#include "sim/experiment.hpp"
#include "workloads/expansion.hpp"
#include "workloads/reader.hpp"
#include "workloads/workload.hpp"

#include <memory>
#include <vector>

namespace kvreplay::sim {

struct LoadedWorkload {
  workloads::Workload workload;
  ModelConfig model;
  workloads::Facts facts;
};

// The vocabulary of the model a workload file names, for its reader; 0 where that model cannot be resolved (which is an
// error only if a replay needs it).
Count model_vocab(const workloads::ModelRequest& request, const std::string& workload_path);

// Reads a workload, resolves its model, takes its facts. Throws InputError (also for a ledger over the model's maximum
// positions unless `stop_at_limit`) and OptionError.
LoadedWorkload load_workload(const std::string& path, const ModelOptions& options, bool stop_at_limit);

// Throws OptionError if a policy's options do not fit the model.
void check_policy(const policies::PolicySpec& policy, const ModelConfig& model);

// The record of a cell before anything ran.
reports::RunResult new_result(const LoadedWorkload& loaded, const policies::PolicySpec& policy, Depth depth);

// Adds a repetition. The first one gives outcome and counters; the counters of later ones must be equal.
void add_repetition(reports::RunResult& result, const ReplayRecord& record, Count index, Count run_order, Depth depth);

// Keeps the last used stack: weights are large, and consecutive cells usually share them.
class StackKeeper {
 public:
  explicit StackKeeper(KernelChoice kernels) : kernels_(kernels) {}

  DecoderStack& stack_for(const ModelConfig& model);

 private:
  KernelChoice kernels_;
  std::unique_ptr<DecoderStack> stack_;
};

}  // namespace kvreplay::sim
