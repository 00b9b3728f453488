#include "reports/compare/writers.hpp"
#include "reports/json_values.hpp"

namespace kvreplay::reports {
namespace {

Json value_json(const Number& number) {
  if (const Count* count = std::get_if<Count>(&number)) return *count;
  if (const double* real = std::get_if<double>(&number)) return number_json(*real);
  return {};
}

Json row_json(const ComparisonRow& row) {
  Json json = {{"kind", name_of(row.kind)},
               {"metric", row.metric},
               {"unit", row.unit},
               {"baseline", value_json(row.baseline)},
               {"candidate", value_json(row.candidate)},
               {"ratio", number_json(row.ratio)},
               {"verdict", name_of(row.change)},
               {"advice", row.is_advice},
               {"note", row.note}};
  if (!is_time(row.kind)) return json;
  json["interval"] =
      row.interval ? Json::array({number_json(row.interval->low), number_json(row.interval->high)}) : Json();
  json["p"] = number_json(row.p);
  json["smallest_detectable"] = number_json(row.smallest_detectable);
  json["repetitions"] = {{"baseline", row.num_baseline}, {"candidate", row.num_candidate}};
  json["outliers"] = {{"baseline", row.num_outliers_baseline}, {"candidate", row.num_outliers_candidate}};
  return json;
}

Json cell_json(const CellComparison& cell) {
  Json rows = Json::array();
  Count num_unchanged = 0;
  for (const ComparisonRow& row : cell.rows) {
    if (row.kind == RowKind::counter && row.change == Change::unchanged) {
      ++num_unchanged;
    } else {
      rows.push_back(row_json(row));
    }
  }
  return {{"workload", cell.workload}, {"path", cell.path},   {"policy", cell.policy},
          {"model", cell.model},       {"depth", cell.depth}, {"counters_unchanged", num_unchanged},
          {"hint", cell.hint},         {"rows", rows}};
}

Json side_json(const SideSummary& side) { return {{"files", side.files}, {"provenance", pairs_json(side.facts)}}; }

Json counts_json(const Comparison& comparison) {
  Json counts = Json::object();
  for (const Change change :
       {Change::regressed, Change::improved, Change::changed, Change::unchanged, Change::inconclusive}) {
    counts[std::string(name_of(change))] = {{"counters", num_rows(comparison, change, Among::counters)},
                                            {"times", num_rows(comparison, change, Among::times)},
                                            {"thresholds", num_rows(comparison, change, Among::thresholds)}};
  }
  return counts;
}

}  // namespace

std::string write_comparison_json(const Comparison& comparison) {
  Json cells = Json::array();
  for (const CellComparison& cell : comparison.cells) cells.push_back(cell_json(cell));
  const Json json = {{"schema", comparison_schema},
                     {"verdict", verdict_text(comparison)},
                     {"counts", counts_json(comparison)},
                     {"baseline", side_json(comparison.baseline)},
                     {"candidate", side_json(comparison.candidate)},
                     {"reference", comparison.reference.empty() ? Json() : Json(comparison.reference)},
                     {"rules",
                      {{"alpha", comparison.alpha},
                       {"effect_floor", comparison.effect_floor},
                       {"absolute_floor_ns", comparison.absolute_floor_ns},
                       {"noise_floor_relative", comparison.noise_floor_relative},
                       {"noise_floor_absolute", comparison.noise_floor_absolute},
                       {"noise_floor_cpu", comparison.noise_floor_cpu},
                       {"noise_source", comparison.noise_source.empty() ? Json() : Json(comparison.noise_source)}}},
                     {"times_withheld", comparison.times_withheld.empty() ? Json() : Json(comparison.times_withheld)},
                     {"notes", comparison.notes},
                     {"cells", cells}};
  return dumped(json) + "\n";
}

}  // namespace kvreplay::reports
