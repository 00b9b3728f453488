#include "reports/merge.hpp"

#include "reports/budgets.hpp"
#include "reports/labels.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// What decides counters besides the configuration; machines may differ.
constexpr std::array<std::string_view, 3> program_keys{"kvreplay_version", "git_commit", "git_dirty"};
constexpr Count most_shards = 1'000'000, most_cells = 1'000'000'000;

std::string texts_at(const Pairs& pairs, std::string_view key) {
  std::string text;
  for (const auto& [name, value] : pairs) {
    if (name == key) text += (text.empty() ? "" : ", ") + value;
  }
  return text;
}

[[noreturn]] void throw_mixed(const std::string& field, const ShardResult& a, const std::string& a_value,
                              const ShardResult& b, const std::string& b_value) {
  throw MixedResults(
      fmt::format("{}: {} is '{}' in {} and '{}' in {}", b.name, field, a_value, a.name, b_value, b.name));
}

void need_equal(const std::string& field, const ShardResult& a, const std::string& a_value, const ShardResult& b,
                const std::string& b_value) {
  if (a_value != b_value) throw_mixed(field, a, a_value, b, b_value);
}

void need_same_run(const ShardResult& a, const ShardResult& b) {
  need_equal("shard/count", a, fmt::format("{}", a.file.shard->count), b, fmt::format("{}", b.file.shard->count));
  for (const auto* pairs : {&a.file.config, &b.file.config}) {
    for (const auto& [key, value] : *pairs) {
      need_equal("config/" + key, a, texts_at(a.file.config, key), b, texts_at(b.file.config, key));
    }
  }
  need_equal("shard/cells", a, fmt::format("{}", a.file.shard->num_cells), b,
             fmt::format("{}", b.file.shard->num_cells));
  for (const std::string_view key : program_keys) {
    need_equal(fmt::format("provenance/{}", key), a, texts_at(a.file.provenance.entries, key), b,
               texts_at(b.file.provenance.entries, key));
  }
  const auto& x = a.file.budgets;
  const auto& y = b.file.budgets;
  need_equal("the number of budgets", a, fmt::format("{}", x.size()), b, fmt::format("{}", y.size()));
  const auto text = [](const BudgetLine& budget) {
    return fmt::format("{}:{} {} {} {} {}", budget.suite, budget.line, budget.workload_path, budget.policy,
                       quantity_of(budget), bounds_of(budget));
  };
  for (std::size_t i = 0; i < x.size(); ++i) need_equal(fmt::format("budgets/{}", i), a, text(x[i]), b, text(y[i]));
}

Count cells_of(const Shard& shard) { return (shard.num_cells - shard.index + shard.count) / shard.count; }

void check_set(const std::vector<ShardResult>& shards) {
  std::map<Count, std::string> files;
  for (const ShardResult& shard : shards) {
    if (!shard.file.shard)
      throw MergeError(shard.name + ": is not the result of a shard; 'kvreplay report' joins whole runs");
    if (texts_at(shard.file.config, "interrupted") == "yes") {
      throw MergeError(shard.name + ": was interrupted, run it again");
    }
    const Shard& part = *shard.file.shard;
    if (part.index > part.count || part.count > most_shards || part.num_cells > most_cells) {
      throw MergeError(fmt::format("{}: /shard: {} of {} shards of {} cells cannot be", shard.name, part.index,
                                   part.count, part.num_cells));
    }
  }
  for (const ShardResult& shard : shards) {
    const Shard& part = *shard.file.shard;
    need_same_run(shards.front(), shard);
    const auto [file, is_new] = files.emplace(part.index, shard.name);
    if (!is_new) {
      throw MergeError(fmt::format("{}: is shard {} of {}, as {} is: their cells would count twice", shard.name,
                                   part.index, part.count, file->second));
    }
    const auto found = static_cast<Count>(shard.file.results.size());
    if (found != cells_of(part)) {
      throw MergeError(fmt::format("{}: holds {} of its {} cells; it was interrupted or cut, run it again", shard.name,
                                   found, cells_of(part)));
    }
  }
  const Count count = shards.front().file.shard->count;
  const Count num_missing = count - static_cast<Count>(files.size());
  if (num_missing == 0) return;
  std::string missing;
  constexpr Count most_named = 20;
  for (Count index = 1, named = 0; index <= count && named < most_named; ++index) {
    if (files.contains(index)) continue;
    missing += fmt::format("{}{}", named++ == 0 ? "" : ", ", index);
  }
  throw MergeError(fmt::format("of {} shards {} {} missing: {}{}", count, num_missing, num_missing == 1 ? "is" : "are",
                               missing, num_missing > most_named ? ", ..." : ""));
}

// A cell and the file it comes from.
struct Cell {
  const RunResult* run;
  const ShardResult* from;
};

std::string identity_of(const RunResult& run) {
  const ModelIdentity& m = run.model;
  return fmt::format("{} {} {} layers of {}, {} x {} heads, window {}, {} cache, {}; depth {}", m.profile, m.weights,
                     m.num_layers, m.hidden_size, m.num_kv_heads, m.head_dim, m.sliding_window, m.cache_dtype,
                     m.max_positions, run.depth);
}

// The cells of a workload stand together, are of the same file and model, and none is there twice.
void check_cells(const std::vector<Cell>& cells) {
  std::map<std::pair<std::string, std::string>, std::size_t> first_of;
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const RunResult& run = *cells[i].run;
    if (!seen.emplace(run.suite, run.workload.path, run.policy.spec).second) {
      throw MergeError(fmt::format("{}: {} through {} is in another shard too", cells[i].from->name, run.workload.path,
                                   run.policy.spec));
    }
    const auto [known, is_new] = first_of.emplace(std::pair(run.suite, run.workload.path), i);
    if (is_new) continue;
    const Cell& first = cells[known->second];
    need_equal("workload/sha256 of " + run.workload.path, *first.from, first.run->workload.sha256, *cells[i].from,
               run.workload.sha256);
    need_equal("model of " + run.workload.path, *first.from, identity_of(*first.run), *cells[i].from, identity_of(run));
    const RunResult& before = *cells[i - 1].run;
    need_equal("the order of workloads", *cells[i - 1].from, before.workload.path, *cells[i].from, run.workload.path);
  }
}

void add_missing(Pairs& pairs, const Pairs& more) {
  for (const auto& pair : more) {
    if (std::find(pairs.begin(), pairs.end(), pair) == pairs.end()) pairs.push_back(pair);
  }
}

}  // namespace

ResultFile merged(std::vector<ShardResult> shards) {
  check_set(shards);
  const auto before = [](const ShardResult& a, const ShardResult& b) {
    return a.file.shard->index < b.file.shard->index;
  };
  std::sort(shards.begin(), shards.end(), before);
  const auto num_cells = static_cast<std::size_t>(shards.front().file.shard->num_cells);
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < num_cells; ++i) {
    const ShardResult& shard = shards[i % shards.size()];
    cells.push_back({&shard.file.results[i / shards.size()], &shard});
  }
  check_cells(cells);
  ResultFile all;
  all.config = shards.front().file.config;
  all.budgets = shards.front().file.budgets;
  for (const ShardResult& shard : shards) add_missing(all.provenance.entries, shard.file.provenance.entries);
  all.provenance.entries.emplace_back("shards", fmt::format("{}", shards.size()));
  for (std::size_t i = 0; i < num_cells; ++i) {
    all.results.push_back(std::move(shards[i % shards.size()].file.results[i / shards.size()]));
  }
  judge_budgets(all);
  return all;
}

}  // namespace kvreplay::reports
