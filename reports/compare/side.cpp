#include "reports/compare/side.hpp"

#include "reports/compare/comparison.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

std::string options_text(const PolicyIdentity& policy) {
  std::vector<std::string> options;
  for (const auto& [key, value] : policy.options) options.push_back(fmt::format("{}={}", key, value));
  std::sort(options.begin(), options.end());
  return options.empty() ? "none" : fmt::format("{}", fmt::join(options, ","));
}

bool is_same_cell(const RunResult& a, const RunResult& b) {
  return a.workload.path == b.workload.path && a.depth == b.depth && identity_fields(a) == identity_fields(b);
}

void need_equal_counters(const SideCell& cell, const RunResult& run, const std::string& name, const std::string& what) {
  const std::string where = fmt::format("{} {}: {} through {}", what, name, run.workload.path, run.policy.spec);
  if (cell.run.outcome.kind != run.outcome.kind) {
    throw NotComparable(fmt::format("{}: outcome.kind is {} here and {} in an earlier file of that side", where,
                                    run.outcome.kind, cell.run.outcome.kind));
  }
  for (std::size_t i = 0; i < std::min(run.counters.size(), cell.run.counters.size()); ++i) {
    if (run.counters[i] == cell.run.counters[i]) continue;
    throw NotComparable(fmt::format(
        "{}: counters.{} is {} here and {} in an earlier file of that side; they are not results of one build", where,
        run.counters[i].first, run.counters[i].second, cell.run.counters[i].second));
  }
}

void add_run(Side& side, RunResult run, std::size_t file, const std::string& what) {
  std::vector<Repetition> repetitions = std::move(run.repetitions);
  auto cell = std::find_if(side.cells.begin(), side.cells.end(),
                           [&run](const SideCell& other) { return is_same_cell(other.run, run); });
  if (cell == side.cells.end()) {
    run.repetitions.clear();
    side.cells.push_back({std::move(run), 0, {}});
    cell = std::prev(side.cells.end());
  } else {
    need_equal_counters(*cell, run, side.names[file], what);
  }
  ++cell->num_files;
  for (Repetition& repetition : repetitions) {
    if (repetition.latency) cell->repetitions.push_back({file, std::move(repetition)});
  }
}

// Runs that only some files of a side have: fewer repetitions than the reader thinks.
void note_gaps(Side& side, const std::string& what) {
  const auto has_gap = [&side](const SideCell& cell) { return cell.num_files < side.names.size(); };
  const auto first = std::find_if(side.cells.begin(), side.cells.end(), has_gap);
  if (first == side.cells.end()) return;
  const auto number = std::count_if(first, side.cells.end(), has_gap);
  const std::string more = number > 1 ? fmt::format("; {} more runs are not in all of them either", number - 1) : "";
  side.notes.push_back(fmt::format("{}: {} of {} files have {} through {}{}", what, first->num_files, side.names.size(),
                                   first->run.workload.path, first->run.policy.spec, more));
}

}  // namespace

Fields identity_fields(const RunResult& run) {
  const ModelIdentity& model = run.model;
  return {{"workload.sha256", run.workload.sha256},
          {"policy.name", run.policy.name},
          {"policy.options", options_text(run.policy)},
          {"model.profile", model.profile},
          {"model.num_layers", fmt::format("{}", model.num_layers)},
          {"model.num_sliding_layers", fmt::format("{}", model.num_sliding_layers)},
          {"model.hidden_size", fmt::format("{}", model.hidden_size)},
          {"model.num_heads", fmt::format("{}", model.num_heads)},
          {"model.num_kv_heads", fmt::format("{}", model.num_kv_heads)},
          {"model.head_dim", fmt::format("{}", model.head_dim)},
          {"model.intermediate_size", fmt::format("{}", model.intermediate_size)},
          {"model.sliding_window", fmt::format("{}", model.sliding_window)},
          {"model.max_positions", fmt::format("{}", model.max_positions)},
          {"model.vocab_size", fmt::format("{}", model.vocab_size)},
          {"model.row_bytes", fmt::format("{}", model.row_bytes)},
          {"model.cache_dtype", model.cache_dtype},
          {"model.weights", model.weights}};
}

std::vector<std::string> differences(const Fields& before, const Fields& now) {
  std::vector<std::string> list;
  for (const auto& [key, value] : before) {
    const std::string other = field(now, key);
    if (other != value) list.push_back(fmt::format("{}: {}, now {}", key, value, other.empty() ? "absent" : other));
  }
  return list;
}

std::string field(const Fields& fields, const std::string& key) {
  const auto found = std::find_if(fields.begin(), fields.end(), [&key](const auto& pair) { return pair.first == key; });
  return found == fields.end() ? std::string() : found->second;
}

Side side_of(std::vector<NamedResult> files, const std::string& what) {
  Side side;
  for (NamedResult& named : files) {
    side.names.push_back(named.name);
    side.configs.push_back(std::move(named.file.config));
    side.provenances.push_back(std::move(named.file.provenance.entries));
    for (RunResult& run : named.file.results) add_run(side, std::move(run), side.names.size() - 1, what);
  }
  if (side.cells.empty()) {
    throw NotComparable(
        fmt::format("the {} {} holds no run: nothing can be compared with it", what, fmt::join(side.names, ", ")));
  }
  note_gaps(side, what);
  return side;
}

}  // namespace kvreplay::reports
