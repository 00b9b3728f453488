#include "reports/labels.hpp"

#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

using FileKey = std::pair<std::string, std::string>;  // path, sha256

FileKey file_key(const RunResult& result) { return {result.workload.path, result.workload.sha256}; }

// Everything about a model that changes numbers, as one key.
std::string model_key(const ModelIdentity& m) {
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", m.profile, m.num_layers, m.num_sliding_layers,
                     m.hidden_size, m.num_heads, m.num_kv_heads, m.head_dim, m.intermediate_size, m.sliding_window,
                     m.max_positions, m.vocab_size, m.row_bytes, m.cache_dtype, m.weights);
}

// Appends `extra(i)` to every label that occurs more than once.
template <typename Extra>
void extend_repeated(std::vector<std::string>& labels, Extra extra) {
  std::map<std::string, int> times;
  for (const std::string& label : labels) ++times[label];
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (times[labels[i]] > 1) labels[i] += extra(i);
  }
}

void number_repeated(std::vector<std::string>& labels) {
  std::set<std::string> taken(labels.begin(), labels.end());
  std::set<std::string> seen;
  for (std::string& label : labels) {
    if (seen.insert(label).second) continue;
    for (int copy = 2;; ++copy) {
      std::string candidate = fmt::format("{}#{}", label, copy);
      if (!taken.insert(candidate).second) continue;
      seen.insert(candidate);
      label = std::move(candidate);
      break;
    }
  }
}

}  // namespace

std::vector<Group> groups_of(std::span<const RunResult> results) {
  std::vector<Group> groups;
  std::map<std::tuple<FileKey, std::string, std::string>, std::size_t> group_of;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto key = std::tuple(file_key(results[i]), model_key(results[i].model), results[i].depth);
    const auto [entry, is_new] = group_of.emplace(key, groups.size());
    if (is_new) groups.emplace_back();
    groups[entry->second].results.push_back(i);
  }
  return groups;
}

std::vector<std::string> workload_labels(std::span<const RunResult> results) {
  std::map<std::string, std::set<FileKey>> files_of_id;
  for (const RunResult& result : results) files_of_id[result.workload.id].insert(file_key(result));
  std::vector<std::string> labels;
  for (const RunResult& result : results) {
    const bool by_path = result.workload.id.empty() || files_of_id[result.workload.id].size() > 1;
    labels.push_back(by_path && !result.workload.path.empty() ? result.workload.path : result.workload.id);
  }
  return labels;
}

std::vector<std::string> run_labels(std::span<const RunResult> results) {
  std::vector<std::string> labels = workload_labels(results);
  for (std::size_t i = 0; i < results.size(); ++i) labels[i] += "/" + results[i].policy.spec;
  extend_repeated(labels, [&](std::size_t i) { return "/" + results[i].model.profile; });
  extend_repeated(labels, [&](std::size_t i) { return "/" + results[i].depth; });
  number_repeated(labels);
  return labels;
}

}  // namespace kvreplay::reports
