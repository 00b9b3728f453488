#include "reports/google_benchmark.hpp"

#include "reports/json_values.hpp"
#include "reports/labels.hpp"
#include "reports/measurements.hpp"
#include "reports/metrics.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::string text_at(const Pairs& pairs, std::string_view key) {
  const auto found = std::find_if(pairs.begin(), pairs.end(), [&](const auto& entry) { return entry.first == key; });
  return found == pairs.end() ? std::string() : found->second;
}

// The number a text begins with; 0 where there is none, as for a machine that does not tell.
double leading_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  static_cast<void>(end);
  return error == std::errc() && std::isfinite(value) ? value : 0;
}

Count leading_integer(std::string_view text, Count otherwise) {
  Count value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  static_cast<void>(end);
  return error == std::errc() ? value : otherwise;
}

// The three averages /proc/loadavg begins with.
Json load_average(std::string_view text) {
  Json list = Json::array();
  while (list.size() < 3 && !text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (word.empty() || word.find_first_not_of("0123456789.") != std::string_view::npos) break;
    list.push_back(leading_number(word));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return list;
}

// Official keys first, the rest of the provenance as custom ones. What the machine does not tell is 0, empty or false.
Json context_json(const ResultFile& file) {
  const Pairs& entries = file.provenance.entries;
  const std::string governor = text_at(entries, "governor"), executable = text_at(entries, "executable");
  const bool knows_governor = !governor.empty() && governor != "unknown";
  Json context = {{"date", text_at(entries, "date")},
                  {"host_name", text_at(entries, "host_name")},
                  {"executable", executable.empty() ? "kvreplay" : executable},
                  {"num_cpus", leading_integer(text_at(entries, "num_cpus"), 0)},
                  {"mhz_per_cpu", std::llround(leading_number(text_at(entries, "cpu_mhz")))},
                  {"cpu_scaling_enabled", knows_governor && governor != "performance"},
                  {"caches", Json::array()},
                  {"load_avg", load_average(text_at(entries, "load_average"))},
                  {"library_version", text_at(entries, "kvreplay_version")},
                  {"library_build_type", text_at(entries, "build_type") == "Debug" ? "debug" : "release"},
                  {"json_schema_version", 1}};
  for (const auto& [key, value] : entries) {
    const std::string name = key == "caches" ? "cpu_caches" : key;
    if (!context.contains(name)) context[name] = value;
  }
  return context;
}

void add_counters(Json& row, const RunResult& result) {
  for (const Measurement& number : counted(result)) {
    if (!row.contains(number.metric)) row[number.metric] = std::get<Count>(number.value);
  }
  constexpr std::array<std::pair<const char*, std::string_view>, 4> memory{
      {{"allocs_per_iter", "buffers_allocated"},
       {"max_bytes_used", "transient_bytes_peak"},
       {"total_allocated_bytes", "bytes_allocated"},
       {"net_heap_growth", "bytes_at_end"}}};
  for (const auto& [key, name] : memory) {
    if (const std::optional<Count> value = counter(result.counters, name)) row[key] = *value;
  }
}

void add_measured(Json& row, const std::vector<Measurement>& numbers) {
  for (const Measurement& number : numbers) {
    if (const Count* count = std::get_if<Count>(&number.value)) row[number.metric] = *count;
    if (const double* real = std::get_if<double>(&number.value)) row[number.metric] = number_json(*real);
  }
}

// What is the same in every row of a result.
struct RowFacts {
  std::string name;
  std::size_t family = 0, instance = 0;
  Count num_repetitions = 1, threads = 1;
};

Json row_json(const RowFacts& facts, Count repetition_index, bool timed, const std::string& label) {
  Json row = {{"name", facts.name},
              {"family_index", facts.family},
              {"per_family_instance_index", facts.instance},
              {"run_name", facts.name},
              {"run_type", timed ? "iteration" : "aggregate"},
              {"repetitions", facts.num_repetitions},
              {"repetition_index", repetition_index},
              {"threads", facts.threads}};
  if (!timed) {
    row["aggregate_name"] = "counters";
    row["aggregate_unit"] = "time";
  }
  row["iterations"] = timed ? 1 : 0;
  row["real_time"] = 0;
  row["cpu_time"] = 0;
  row["time_unit"] = "ns";
  row["label"] = label;
  return row;
}

void append_rows(Json& rows, const RunResult& result, RowFacts facts) {
  const auto is_timed = [](const Repetition& repetition) { return repetition.latency.has_value(); };
  const auto num_timed = std::count_if(result.repetitions.begin(), result.repetitions.end(), is_timed);
  if (!result.outcome.completed() || num_timed == 0) {
    Json row = row_json(facts, 0, false, fmt::format("counters only, no time at depth {}", result.depth));
    if (!result.outcome.completed()) {
      row["label"] = fmt::format("incomplete: {}", result.outcome.kind);
      row["error_occurred"] = true;
      row["error_message"] = fmt::format("{}: {}", result.outcome.kind, result.outcome.message);
    }
    add_counters(row, result);
    rows.push_back(std::move(row));
    return;
  }
  facts.num_repetitions = num_timed;
  Count index = 0;
  for (const Repetition& repetition : result.repetitions) {
    if (!is_timed(repetition)) continue;
    Json row = row_json(facts, index++, true, fmt::format("depth {}", result.depth));
    row["real_time"] = repetition.latency->total_ns;
    if (repetition.process && repetition.process->cpu_ns) row["cpu_time"] = *repetition.process->cpu_ns;
    add_counters(row, result);
    add_measured(row, measured(result, repetition));
    rows.push_back(std::move(row));
  }
}

}  // namespace

std::string write_google_benchmark(const ResultFile& file) {
  const std::vector<std::string> names = run_labels(file.results);
  const std::vector<Group> groups = groups_of(file.results);
  const Count threads = leading_integer(text_at(file.provenance.entries, "threads"), 1);
  Json rows = Json::array();
  for (std::size_t family = 0; family < groups.size(); ++family) {
    for (std::size_t instance = 0; instance < groups[family].results.size(); ++instance) {
      const std::size_t i = groups[family].results[instance];
      append_rows(rows, file.results[i], {names[i], family, instance, 1, threads});
    }
  }
  const Json document = {{"context", context_json(file)}, {"benchmarks", std::move(rows)}};
  return document.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace kvreplay::reports
