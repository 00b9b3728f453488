// A run: workloads x policies x repetitions on one machine, interleaved, each cell from the same cold state.
#pragma once

#include "policies/registry.hpp"
#include "reports/result.hpp"
#include "sim/model_config.hpp"
#include "sim/replay.hpp"

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace kvreplay::sim {

// A part of the cells: those whose ordinal leaves the remainder `index` when divided by `count`.
struct CellSubset {
  Count index = 0, count = 1;
  Count first_cell = 0;  // ordinal of this experiment's first cell, where it is one of several
  bool holds(Count cell) const { return (first_cell + cell) % count == index; }
};

struct ExperimentSettings {
  std::vector<std::string> workload_paths;
  std::vector<policies::PolicySpec> policies;
  ModelOptions model;
  Depth depth = Depth::compute;
  Count repetitions = 1;  // 0: look at outputs only, time nothing
  int threads = 1;
  KernelChoice kernels = KernelChoice::fast;
  policies::PageChoice pages = policies::PageChoice::huge;  // of large cache buffers
  Count prefill_chunk = 0;                                  // most tokens of one pass; 0: all
  Count memory_limit_bytes = 0;
  bool stop_at_limit = false;
  bool truncate_at_events = false;
  bool verify = false;
  double tolerance = 0;   // <= 0: the element type's default
  bool timeline = false;  // keep samples for the report files
  bool accept_long_run = false;
  std::string dump_folder;  // empty: no dump
  bool dump_hidden = false;
  CellSubset cells;
  Count first_run = 0;  // run_order of its first run, where it is one of several
  const std::atomic<bool>* interrupted = nullptr;
};

// A compute run that would take longer than anyone waits for by accident.
class RunTooLong : public std::runtime_error {
 public:
  RunTooLong(const std::string& problem_text, const std::string& cure)
      : std::runtime_error(problem_text + "; " + cure), problem(problem_text) {}
  std::string problem;  // without the cure, which names options of `run`
};

// Hears how a run goes; for progress and notes.
class ExperimentObserver {
 public:
  virtual ~ExperimentObserver() = default;
  virtual void note(const std::string& text) { (void)text; }
  virtual void expectation(double seconds) { (void)seconds; }
  // A replay begins: `cell` of `num_cells`, what it does, and the number of evaluations it will serve at most.
  virtual void begin(Count cell, Count num_cells, const std::string& what, Count num_evaluations) {
    (void)cell, (void)num_cells, (void)what, (void)num_evaluations;
  }
  virtual void progress(Count evaluations_done) { (void)evaluations_done; }
  virtual void end() {}
};

// Longest expected compute run that starts without `accept_long_run`.
inline constexpr double long_run_seconds = 30 * 60;

// "40 seconds", "35 minutes", "5.5 days".
std::string duration_text(double seconds);

// Runs every cell of `cells`, workload by workload and policy by policy. Order: repetition, then workload, then policy,
// the policies rotated by one each repetition; cells left out keep their place in `run_order`. Throws InputError and
// OptionError before anything is run, RunTooLong, and what DecoderStack throws. An interruption gives what was done so
// far, its last cell with outcome `interrupted`.
reports::ResultFile run_experiment(const ExperimentSettings& settings, ExperimentObserver& observer);

}  // namespace kvreplay::sim
