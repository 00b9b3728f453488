#include "reports/overview.hpp"

#include "reports/budgets.hpp"
#include "reports/metrics.hpp"
#include "reports/statistics.hpp"
#include "reports/text.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

using Value = std::optional<double>;

// A run with its pooled latency, which is costly to make.
struct Run {
  const RunResult& result;
  std::optional<Latency> latency;
};

// A column of numbers: the value to compare by and its text.
struct NumberColumn {
  OverviewColumn column;
  std::function<Value(const Run&)> value;
  std::function<std::string(const Run&)> text;
};

NumberColumn count_column(OverviewColumn column, const std::function<std::optional<Count>(const Run&)>& count,
                          const std::function<std::string(Count)>& written) {
  const auto value = [count](const Run& run) -> Value {
    const std::optional<Count> number = count(run);
    return number ? Value(static_cast<double>(*number)) : std::nullopt;
  };
  const auto text = [count, written](const Run& run) {
    const std::optional<Count> number = count(run);
    return number ? written(*number) : std::string("-");
  };
  return {std::move(column), value, text};
}

NumberColumn counter_column(OverviewColumn column, const std::string& name,
                            const std::function<std::string(Count)>& written) {
  return count_column(
      std::move(column), [name](const Run& run) { return counter(run.result.counters, name); }, written);
}

NumberColumn latency_column(OverviewColumn column, const std::function<std::optional<Count>(const Latency&)>& time,
                            const std::function<std::string(Count)>& written) {
  const auto ns = [time](const Run& run) { return run.latency ? time(*run.latency) : std::nullopt; };
  return count_column(std::move(column), ns, written);
}

NumberColumn floor_column(OverviewColumn column, const std::string& floor) {
  const auto value = [floor](const Run& run) -> Value {
    const std::optional<Count> evaluated = counter(run.result.counters, "tokens_evaluated");
    const std::optional<Count> least = counter(run.result.counters, floor);
    if (!evaluated || !least || !run.result.outcome.completed()) return std::nullopt;
    return ratio(*evaluated, *least);
  };
  return {std::move(column), value, [value](const Run& run) { return human_ratio(value(run)); }};
}

std::vector<NumberColumn> number_columns(Units units, bool timed) {
  const auto bytes = [units](Count count) { return units == Units::human ? human_bytes(count) : grouped(count); };
  const auto ns = [units](Count count) { return units == Units::human ? human_ns(count) : grouped(count); };
  std::vector<NumberColumn> columns{
      counter_column({"evaluated", "tokens run through the model"}, "tokens_evaluated", grouped),
      floor_column({"x floor", "evaluated over the least a perfect cache of one sequence would evaluate"},
                   "tokens_floor_single"),
      floor_column({"x tree", "the same over a perfect tree of all prefixes", true, true}, "tokens_floor_multi"),
      counter_column({"recomputed", "tokens evaluated although they had been before"}, "tokens_recomputed", grouped),
      counter_column({"realloc", "times storage was replaced by new storage"}, "reallocations", grouped),
      counter_column({"copied", "bytes moved between storages"}, "bytes_copied", bytes),
      counter_column({"zeroed", "bytes set to zero"}, "bytes_zeroed", bytes),
      counter_column({"peak", "most bytes held at once, old and new storage together"}, "transient_bytes_peak", bytes),
      counter_column({"at end", "bytes still held"}, "bytes_at_end", bytes)};
  if (!timed) return columns;
  columns.push_back(latency_column(
      {"total", "time of all evaluations, median repetition"},
      [](const Latency& l) { return std::optional(l.total_ns); }, ns));
  columns.push_back(
      latency_column({"p50", "median evaluation"}, [](const Latency& l) { return l.evaluation_ns.p50; }, ns));
  columns.push_back(
      latency_column({"max", "slowest evaluation"}, [](const Latency& l) { return l.evaluation_ns.max; }, ns));
  return columns;
}

std::optional<std::pair<double, double>> range_of_comparable(const NumberColumn& column, std::span<const Run> runs) {
  std::optional<std::pair<double, double>> range;
  for (const Run& run : runs) {
    const Value value = is_comparable(run.result) ? column.value(run) : std::nullopt;
    if (!value) continue;
    if (!range) range = std::pair(*value, *value);
    range = std::pair(std::min(range->first, *value), std::max(range->second, *value));
  }
  return range;
}

OverviewCell verification_cell(const RunResult& result) {
  if (!result.verification) return {"-", Emphasis::none};
  const Verification& verification = *result.verification;
  if (!verification.unexpected_differences.empty()) {
    return {fmt::format("{} differ", grouped(verification.evaluations_differing)), Emphasis::failure};
  }
  if (!verification.passed())
    return {fmt::format("{} differ", grouped(verification.evaluations_differing)), Emphasis::warning};
  return {"same", Emphasis::none};
}

void add_notes(std::vector<std::string>& notes, const RunResult& result) {
  if (!result.outcome.completed()) notes.push_back(incomplete_note(result));
  if (result.verification && !result.verification->passed()) notes.push_back(difference_note(result));
  if (result.verification && !result.verification->unexpected_equalities.empty()) {
    notes.push_back(fmt::format("{}: {} evaluations the policy claims wrong are right", result.policy.spec,
                                grouped(static_cast<Count>(result.verification->unexpected_equalities.size()))));
  }
  const Count inexact = counter(result.counters, "inexact_evaluations").value_or(0);
  if (inexact > 0) {
    notes.push_back(
        fmt::format("{}: by its own account {} evaluations read rows a cold run has not, as its engine does",
                    result.policy.spec, grouped(inexact)));
  }
}

std::string setting_of(const RunResult& result) {
  const ModelIdentity& model = result.model;
  std::string text =
      fmt::format("{}, {} layers ({} sliding, window {}), {} cache, depth {}", model.profile, model.num_layers,
                  model.num_sliding_layers, grouped(model.sliding_window), model.cache_dtype, result.depth);
  if (result.repetitions.size() > 1) text += fmt::format(", {} repetitions", result.repetitions.size());
  return text;
}

}  // namespace

std::string incomplete_note(const RunResult& result) {
  std::string note = fmt::format("{}: incomplete, {}", result.policy.spec, result.outcome.kind);
  if (result.outcome.evaluation) note += fmt::format(" at evaluation {}", *result.outcome.evaluation);
  if (result.outcome.line) note += fmt::format(", line {}", *result.outcome.line);
  if (result.outcome.wanted) note += fmt::format(", wanted {}", grouped(*result.outcome.wanted));
  if (result.outcome.available) note += fmt::format(", available {}", grouped(*result.outcome.available));
  if (!result.outcome.message.empty()) note += fmt::format(": {}", result.outcome.message);
  return note + " (counters up to the last completed evaluation, no ratios)";
}

std::string difference_note(const RunResult& result) {
  const Verification& verification = *result.verification;
  std::string note =
      fmt::format("{}: {} of {} evaluations differ from a run without a cache", result.policy.spec,
                  grouped(verification.evaluations_differing), grouped(verification.evaluations_compared));
  if (verification.first_difference) {
    const VerificationFailure& first = *verification.first_difference;
    note += fmt::format(", first evaluation {} (line {}, position {}, {}, by {:.2g})", first.evaluation, first.line,
                        first.position, first.where, first.difference);
  }
  if (!verification.unexpected_differences.empty()) {
    note += fmt::format("; {} of them the policy claims exact",
                        grouped(static_cast<Count>(verification.unexpected_differences.size())));
  }
  return note;
}

bool is_comparable(const RunResult& result) {
  return result.outcome.completed() && counter(result.counters, "inexact_evaluations").value_or(0) == 0 &&
         (!result.verification || result.verification->passed());
}

Overview overview_of(std::span<const RunResult> results, const Group& group, const std::string& label, Units units) {
  std::vector<Run> runs;
  runs.reserve(group.results.size());
  for (const std::size_t i : group.results) runs.push_back({results[i], pooled_latency(results[i])});
  const bool timed = std::any_of(runs.begin(), runs.end(), [](const Run& run) { return run.latency.has_value(); });
  const bool verified =
      std::any_of(runs.begin(), runs.end(), [](const Run& run) { return run.result.verification.has_value(); });
  const RunResult& first = runs.front().result;
  Overview overview{label, first.workload.path, first.workload.title, setting_of(first), {}, {}, {}};
  overview.columns = {{"policy", "", false}, {"outcome", "", false}};
  for (const auto& [result, latency] : runs) {
    const Emphasis outcome = result.outcome.completed() ? Emphasis::none : Emphasis::warning;
    overview.rows.push_back({{result.policy.spec, Emphasis::none}, {result.outcome.kind, outcome}});
    add_notes(overview.notes, result);
  }
  for (const NumberColumn& column : number_columns(units, timed)) {
    overview.columns.push_back(column.column);
    const auto range = range_of_comparable(column, runs);
    for (std::size_t row = 0; row < runs.size(); ++row) {
      const bool best = range && range->first < range->second && is_comparable(runs[row].result) &&
                        column.value(runs[row]) == range->first;
      overview.rows[row].push_back({column.text(runs[row]), best ? Emphasis::best : Emphasis::none});
    }
  }
  if (verified) {
    overview.columns.push_back({"verify", "outputs against a run without a cache", false});
    for (std::size_t row = 0; row < runs.size(); ++row)
      overview.rows[row].push_back(verification_cell(runs[row].result));
  }
  return overview;
}

Verdict verdict_of(std::span<const RunResult> results) {
  if (results.empty()) return {Emphasis::warning, "no runs"};
  const auto count = [&](auto holds) { return std::count_if(results.begin(), results.end(), holds); };
  const auto incomplete = count([](const RunResult& r) { return !r.outcome.completed(); });
  const auto verified = count([](const RunResult& r) { return r.verification.has_value(); });
  const auto differing = count([](const RunResult& r) { return r.verification && !r.verification->passed(); });
  std::string text = incomplete == 0 ? fmt::format("{} of {} runs completed", results.size(), results.size())
                                     : fmt::format("{} of {} runs incomplete", incomplete, results.size());
  if (differing > 0) {
    text = fmt::format("{} of {} verified runs differ from a run without a cache; {}", differing, verified, text);
    return {Emphasis::failure, text};
  }
  if (verified > 0) text += fmt::format("; outputs of {} equal those of a run without a cache", verified);
  return {incomplete > 0 ? Emphasis::warning : Emphasis::best, text};
}

Verdict verdict_of(const ResultFile& file) {
  Verdict verdict = verdict_of(std::span<const RunResult>(file.results));
  const BudgetTally tally = tally_of(file);
  if (file.budgets.empty()) return verdict;
  if (tally.broken > 0) return {Emphasis::failure, budget_summary(file) + "; " + verdict.text};
  return {verdict.emphasis, verdict.text + "; " + budget_summary(file)};
}

}  // namespace kvreplay::reports
