#include "reports/html_data.hpp"

#include "reports/statistics.hpp"
#include "reports/text.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace kvreplay::reports {
namespace {

constexpr std::size_t name_width = 40;

// The ordinals 0..size-1, or of each stretch of equal length the one whose value is largest.
template <typename Value>
std::vector<std::size_t> kept_ordinals(std::size_t size, std::size_t max_points, Value value) {
  const std::size_t stretch = std::max<std::size_t>((size + max_points - 1) / max_points, 1);
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < size; ++i) {
    if (i % stretch == 0) {
      kept.push_back(i);
    } else if (value(i) > value(kept.back())) {
      kept.back() = i;
    }
  }
  return kept;
}

Count reused(const Sample& sample) { return sample.length - sample.fed; }
bool is_unserved(const Sample& sample) { return sample.action == "refused" || sample.action == "exceeded"; }
// As the counter rewinds_asked.
bool is_rewind(const Sample& sample) {
  return sample.action == "refused" || (sample.action != "exceeded" && sample.held_before > sample.kept);
}
bool is_event(const Sample& sample) {
  return is_rewind(sample) || is_unserved(sample) || sample.tokens_recomputed > 0 || sample.new_storage == "yes";
}

std::string served_word(const Sample& sample) {
  if (!is_rewind(sample)) return "";
  return !is_unserved(sample) && reused(sample) == sample.kept ? "yes" : "no";
}

// Each evaluation's time: the median over repetitions that stored all of them.
std::vector<Count> median_times(const RunResult& result) {
  std::vector<const std::vector<Count>*> repetitions;
  for (const Repetition& repetition : result.repetitions) {
    const bool fits = repetitions.empty() || repetition.evaluation_ns.size() == repetitions.front()->size();
    if (!repetition.evaluation_ns.empty() && fits) repetitions.push_back(&repetition.evaluation_ns);
  }
  if (repetitions.empty()) return {};
  std::vector<Count> medians(repetitions.front()->size());
  for (std::size_t i = 0; i < medians.size(); ++i) {
    std::vector<Count> times;
    for (const auto* repetition : repetitions) times.push_back((*repetition)[i]);
    std::sort(times.begin(), times.end());
    medians[i] = nearest_rank(times, 50).value_or(0);
  }
  return medians;
}

}  // namespace

Json memory_series(const RunResult& result, std::size_t max_points) {
  const auto kept = kept_ordinals(result.timeline.size(), max_points,
                                  [&](std::size_t i) { return result.timeline[i].transient_bytes; });
  Json columns = {{"evaluation", Json::array()},   {"length", Json::array()},      {"live_global", Json::array()},
                  {"live_sliding", Json::array()}, {"held_global", Json::array()}, {"held_sliding", Json::array()},
                  {"most", Json::array()}};
  for (const std::size_t i : kept) {
    const Sample& sample = result.timeline[i];
    columns["evaluation"].push_back(sample.evaluation);
    columns["length"].push_back(sample.length);
    columns["live_global"].push_back(sample.live_global_bytes);
    columns["live_sliding"].push_back(sample.live_sliding_bytes);
    columns["held_global"].push_back(sample.reserved_global_bytes);
    columns["held_sliding"].push_back(sample.reserved_sliding_bytes);
    columns["most"].push_back(sample.transient_bytes);
  }
  return columns;
}

Json event_rows(const RunResult& result, std::size_t max_events) {
  std::vector<const Sample*> events;
  for (const Sample& sample : result.timeline) {
    if (is_event(sample)) events.push_back(&sample);
  }
  const std::size_t num_events = events.size();
  if (num_events > max_events) {
    const auto cost = [](const Sample* s) {
      return std::tuple(is_unserved(*s), s->tokens_recomputed, s->bytes_copied + s->bytes_zeroed);
    };
    std::stable_sort(events.begin(), events.end(), [&](const Sample* a, const Sample* b) { return cost(a) > cost(b); });
    events.resize(max_events);
    std::stable_sort(events.begin(), events.end(),
                     [](const Sample* a, const Sample* b) { return a->evaluation < b->evaluation; });
  }
  Json rows = Json::array();
  for (const Sample* s : events) {
    rows.push_back(
        Json::array({s->evaluation, s->line, shortened(s->sequence, name_width), s->action, s->cause, s->length,
                     s->held_before, s->kept, served_word(*s), s->fed, s->tokens_recomputed,
                     s->new_storage == "yes" ? "yes" : "", s->bytes_copied, s->bytes_zeroed, s->transient_bytes}));
  }
  return {{"columns",
           {"evaluation", "line", "sequence", "action", "cause", "length", "held", "asked", "served", "fed",
            "recomputed", "new_storage", "copied", "zeroed", "most"}},
          {"rows", std::move(rows)},
          {"left_out", num_events - events.size()}};
}

Json latency_series(const RunResult& result, std::size_t max_points) {
  const std::vector<Count> times = median_times(result);
  Json evaluations = Json::array(), ns = Json::array();
  if (!times.empty()) {
    for (const std::size_t i : kept_ordinals(times.size(), max_points, [&](std::size_t k) { return times[k]; })) {
      evaluations.push_back(i);
      ns.push_back(times[i]);
    }
  } else {
    const auto time = [&](std::size_t i) { return result.timeline[i].latency_ns.value_or(0); };
    for (const std::size_t i : kept_ordinals(result.timeline.size(), max_points, time)) {
      if (!result.timeline[i].latency_ns) continue;
      evaluations.push_back(result.timeline[i].evaluation);
      ns.push_back(time(i));
    }
  }
  if (ns.empty()) return {};
  return {{"evaluation", std::move(evaluations)}, {"ns", std::move(ns)}};
}

Json latency_quantiles(const RunResult& result) {
  std::vector<Count> times;
  for (const Repetition& repetition : result.repetitions) {
    times.insert(times.end(), repetition.evaluation_ns.begin(), repetition.evaluation_ns.end());
  }
  if (times.empty()) return {};
  std::sort(times.begin(), times.end());
  Json quantiles = Json::array({times.front()});
  for (int percent = 1; percent <= 100; ++percent) {
    quantiles.push_back(nearest_rank(times, percent).value_or(0));
  }
  return quantiles;
}

}  // namespace kvreplay::reports
