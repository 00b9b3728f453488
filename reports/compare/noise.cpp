#include "reports/compare/noise.hpp"

#include "reports/compare/compare.hpp"
#include "reports/json_node.hpp"
#include "reports/json_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

// A floor of a thousandfold hides everything; no machine is as noisy.
constexpr double largest_noise = 1000;

// What shows in times and is not part of the program.
constexpr std::array machine_keys{"host_name", "cpu_model",         "num_cpus", "affinity_cpus",
                                  "caches",    "cgroup_quota_cpus", "governor", "transparent_hugepages",
                                  "page_bytes"};

void widen(NoiseFloor& floor, const Comparison& comparison) {
  bool alarm = false;
  for (const CellComparison& cell : comparison.cells) {
    for (const ComparisonRow& row : cell.rows) {
      if (!is_time(row.kind) || !row.ratio) continue;
      alarm = alarm || row.change == Change::regressed || row.change == Change::improved;
      // Too small to matter: parts of microseconds vary by multiples of themselves.
      if (row.note == below_absolute_floor) continue;
      double& largest = row.kind == RowKind::relative_time   ? floor.relative
                        : row.kind == RowKind::absolute_time ? floor.absolute
                        : row.kind == RowKind::cpu_time      ? floor.cpu
                                                             : floor.part;
      // A part that took next to nothing once differs by any factor.
      largest = std::max(largest, std::min(std::expm1(std::abs(std::log(*row.ratio))), largest_noise));
    }
  }
  ++floor.num_pairs;
  floor.num_alarms += alarm ? 1 : 0;
}

void need_one_build(const std::vector<NamedResult>& runs) {
  const Fields& first = runs.front().file.provenance.entries;
  for (const NamedResult& run : runs) {
    const Fields& other = run.file.provenance.entries;
    for (const char* key : {"git_commit", "build_type", "compiler", "flags", "threads"}) {
      if (field(first, key) == field(other, key)) continue;
      throw NotComparable(fmt::format("--calibrate-noise compares runs of one build: {} has {} {}, {} has {}", run.name,
                                      key, field(other, key), runs.front().name, field(first, key)));
    }
    const std::vector<std::string> machine = differences(machine_fields(first), machine_fields(other));
    if (!machine.empty()) {
      throw NotComparable(
          fmt::format("--calibrate-noise compares runs of one machine: {}: {}", run.name, fmt::join(machine, "; ")));
    }
  }
}

}  // namespace

Fields machine_fields(const Fields& provenance) {
  Fields fields;
  for (const char* key : machine_keys) {
    const std::string value = field(provenance, key);
    if (!value.empty()) fields.emplace_back(key, value);
  }
  return fields;
}

NoiseFloor calibrated(const std::vector<NamedResult>& runs) {
  if (runs.size() < 2) throw NotComparable("--calibrate-noise needs two results of one build at least");
  need_one_build(runs);
  std::vector<Side> sides;
  for (const NamedResult& run : runs) sides.push_back(side_of({run}, "result"));
  NoiseFloor floor;
  floor.machine = machine_fields(runs.front().file.provenance.entries);
  bool timed = false;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    for (std::size_t j = i + 1; j < sides.size(); ++j) {
      const Comparison comparison = compare(sides[i], sides[j], {});
      for (const Change change : {Change::regressed, Change::improved, Change::changed}) {
        if (num_rows(comparison, change, Among::counters) == 0) continue;
        throw NotComparable(
            fmt::format("{} and {}: counters differ, they are not results of one build", runs[i].name, runs[j].name));
      }
      timed = timed || !comparison.reference.empty();
      widen(floor, comparison);
    }
  }
  if (!timed) throw NotComparable("--calibrate-noise needs times: run at depth alloc or compute");
  return floor;
}

std::string write_noise(const NoiseFloor& floor) {
  const Json json = {{"schema", noise_schema},
                     {"relative", number_json(floor.relative)},
                     {"absolute", number_json(floor.absolute)},
                     {"cpu", number_json(floor.cpu)},
                     {"part", number_json(floor.part)},
                     {"num_pairs", floor.num_pairs},
                     {"num_alarms", floor.num_alarms},
                     {"machine", pairs_json(floor.machine)}};
  return dumped(json) + "\n";
}

NoiseFloor read_noise(std::string_view text, const std::string& name) {
  const JsonSource source{name, "measure the noise anew with 'kvreplay compare --calibrate-noise'"};
  const Json document = parsed_json(text, source);
  const auto schema = document.is_object() ? document.find("schema") : document.end();
  if (schema == document.end() || !schema->is_string()) {
    throw ResultError(
        fmt::format("{}: no calibration: there is no \"schema\": \"{}\"; {}", name, noise_schema, source.cure));
  }
  if (*schema != noise_schema) {
    throw ResultError(fmt::format("{}: schema {}; this program reads \"{}\"", name, shown_json(*schema), noise_schema));
  }
  const JsonNode root(document, source);
  NoiseFloor floor;
  for (const auto& [key, value] : {std::pair{"relative", &floor.relative}, std::pair{"absolute", &floor.absolute},
                                   std::pair{"cpu", &floor.cpu}, std::pair{"part", &floor.part}}) {
    *value = root.member(key).number_from(0, largest_noise);
  }
  floor.num_pairs = root.member("num_pairs").integer(1);
  floor.num_alarms = root.member("num_alarms").integer(0);
  if (floor.num_alarms > floor.num_pairs) {
    root.member("num_alarms").refuse(fmt::format("at most {}, the pairs", floor.num_pairs));
  }
  floor.machine = root.member("machine").pairs();
  floor.source = name;
  return floor;
}

}  // namespace kvreplay::reports
