#include "reports/perfetto.hpp"

#include "reports/json_values.hpp"
#include "reports/labels.hpp"
#include "reports/sample_columns.hpp"

#include <algorithm>

namespace kvreplay::reports {
namespace {

constexpr Count ordinal_ns = 1'000'000;  // length of an evaluation without a time

// Trace times are microseconds; the fraction keeps the nanoseconds.
double microseconds(Count ns) { return static_cast<double>(ns) / 1000; }

// When each evaluation begins and, at the end, when the last one ends; empty without stored times.
std::vector<Count> begins_of(const RunResult& result) {
  for (const Repetition& repetition : result.repetitions) {
    if (repetition.evaluation_ns.empty()) continue;
    std::vector<Count> begins{0};
    for (const Count ns : repetition.evaluation_ns) begins.push_back(begins.back() + ns);
    return begins;
  }
  return {};
}

Json metadata(const char* name, std::size_t process, const std::string& text) {
  return {{"ph", "M"}, {"name", name}, {"pid", process}, {"tid", 1}, {"args", {{"name", text}}}};
}

Json arguments_of(const Sample& sample) {
  Json arguments = Json::object();
  for (const SampleColumn& column : sample_columns()) {
    const std::string text = text_of(column.cell(sample));
    if (text.empty()) continue;
    const Cell cell = column.cell(sample);
    const Count* number = std::get_if<Count>(&cell);
    arguments[std::string(column.name)] = number != nullptr ? Json(*number) : Json(text);
  }
  return arguments;
}

void append_sample(Json& events, const Sample& sample, std::size_t process, Count begin, Count duration) {
  const Count live = sample.live_global_bytes + sample.live_sliding_bytes;
  const Count held = std::max(live, sample.reserved_global_bytes + sample.reserved_sliding_bytes);
  const Count most = std::max(held, sample.transient_bytes);
  events.push_back({{"ph", "X"},
                    {"name", sample.action},
                    {"cat", sample.cause.empty() ? "evaluation" : sample.cause},
                    {"pid", process},
                    {"tid", 1},
                    {"ts", microseconds(begin)},
                    {"dur", microseconds(duration)},
                    {"args", arguments_of(sample)}});
  const auto counter = [&](Count at, Count transient) {
    events.push_back({{"ph", "C"},
                      {"name", "KV cache bytes"},
                      {"pid", process},
                      {"tid", 1},
                      {"ts", microseconds(at)},
                      {"args", {{"live", live}, {"slack", held - live}, {"transient", transient}}}});
  };
  counter(begin, most - held);
  counter(begin + duration, 0);
}

void append_run(Json& events, const RunResult& result, std::size_t process, const std::string& label) {
  const std::vector<Count> begins = begins_of(result);
  const bool timed =
      !begins.empty() && std::all_of(result.timeline.begin(), result.timeline.end(), [&](const Sample& sample) {
        return sample.evaluation >= 0 && static_cast<std::size_t>(sample.evaluation) < begins.size();
      });
  events.push_back(metadata("process_name", process, timed ? label : label + " (1 ms is one evaluation, not a time)"));
  events.push_back(metadata("thread_name", process, "evaluations"));
  for (const Sample& sample : result.timeline) {
    const auto i = static_cast<std::size_t>(sample.evaluation);
    // The evaluation that ended an incomplete run has no time of its own.
    const bool has_time = timed && i + 1 < begins.size();
    const Count begin = timed ? begins[i] : sample.evaluation * ordinal_ns;
    append_sample(events, sample, process, begin, has_time ? begins[i + 1] - begins[i] : timed ? 0 : ordinal_ns);
  }
}

}  // namespace

std::string write_perfetto(const ResultFile& file) {
  const std::vector<std::string> labels = run_labels(file.results);
  Json events = Json::array();
  for (std::size_t i = 0; i < file.results.size(); ++i) append_run(events, file.results[i], i + 1, labels[i]);
  return dumped({{"displayTimeUnit", "ms"},
                 {"otherData", pairs_json(file.provenance.entries)},
                 {"traceEvents", std::move(events)}}) +
         "\n";
}

}  // namespace kvreplay::reports
