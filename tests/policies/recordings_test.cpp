// The presets against the engines' own logs, call by call.
#include "tests/catch.hpp"
#include "tests/policies/support.hpp"

#include <charconv>
#include <fstream>
#include <map>
#include <sstream>

using namespace kvreplay::policies;
using namespace kvreplay::policies::testing;

namespace {

const std::string recorded = std::string(KVREPLAY_SOURCE_DIR) + "/workloads/recorded/";
const std::string guidance_0_2 = recorded + "guidance-0.2.1_transformers-4.47.1/";
const std::string guidance_0_3 = recorded + "guidance-0.3.1_transformers-4.57.6/";
const std::vector<std::string> programs{"json", "plain", "fewshot", "fork", "stop"};

struct Recording {
  std::vector<Tokens> lists;
  std::vector<std::map<std::string, std::string>> log;
  std::map<std::string, Count> observed;
};

Count number(const std::string& text) {
  Count value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  INFO("number '" << text << "'");
  REQUIRE((error == std::errc() && end == text.data() + text.size()));
  return value;
}

std::vector<std::string> split(std::string line, char separator) {
  if (!line.empty() && line.back() == '\r') line.pop_back();  // logs were written with both line ends
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, separator);) cells.push_back(cell);
  return cells;
}

// Text between `after` and the next `end`.
std::string between(const std::string& line, const std::string& after, char end) {
  const std::size_t begin = line.find(after) + after.size();
  return line.substr(begin, line.find(end, begin) - begin);
}

void read_workload_lines(const std::string& path, Recording& recording) {
  std::ifstream file(path);
  INFO(path);
  REQUIRE(file);
  Tokens list;
  for (std::string line; std::getline(file, line);) {
    if (line.find("- call: {keep: ") != std::string::npos) {
      list.resize(static_cast<std::size_t>(number(between(line, "keep: ", ','))));
      for (const std::string& id : split(between(line, "feed: \"", '"'), ' '))
        list.push_back(static_cast<TokenId>(number(id)));
      recording.lists.push_back(list);
    }
    for (const char* key : {"fed", "allocations", "reallocations", "resets", "crops", "peak_bytes", "bytes_at_end"}) {
      const std::string name = std::string(", ") + key + ": ";
      if (line.find(name) == std::string::npos) continue;
      const std::string rest = between(line, name, '}');
      recording.observed[key] = number(rest.substr(0, rest.find(',')));
    }
  }
}

Recording read_recording(const std::string& path) {
  Recording recording;
  read_workload_lines(path + ".yaml", recording);
  std::ifstream file(path + ".observed.csv");
  REQUIRE(file);
  std::string line;
  REQUIRE(std::getline(file, line));
  const std::vector<std::string> columns = split(line, ',');
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = split(line, ',');
    auto& row = recording.log.emplace_back();
    for (std::size_t i = 0; i < columns.size(); ++i) row[columns[i]] = i < cells.size() ? cells[i] : "";
  }
  REQUIRE(recording.log.size() == recording.lists.size());
  return recording;
}

CacheGeometry tiny_gemma2(Count window) {
  CacheGeometry shape;
  shape.num_kv_heads = 2;
  shape.head_dim = 32;
  shape.sliding_window = window;
  shape.max_positions = 1024;
  shape.slides = {true, false, true, false, true, false};
  return shape;
}

// Cells a recorder could not read are blank or "error".
void check_cell(const std::map<std::string, std::string>& row, const std::string& column, const std::string& ours) {
  const std::string& theirs = row.at(column);
  INFO(column);
  if (!theirs.empty() && theirs != "error") CHECK(ours == theirs);
}

struct Totals {
  Count fed = 0, resets = 0, crops = 0, refused = 0;
  Count first_wrong = -1;
};

enum class Columns { all, without_belief };  // of the engine's believed length and exactness

Totals replay(const Recording& recording, CachePolicy& cache, Columns columns) {
  Totals totals;
  Caller caller(cache);
  for (std::size_t i = 0; i < recording.lists.size(); ++i) {
    const auto& row = recording.log[i];
    INFO("call " << i);
    const Tokens& list = recording.lists[i];
    const Count bytes_before = cache.ledger().counters().reserved_bytes.total();
    const Admission admission = caller.call(list);
    const bool refused = admission.action == Action::refused;
    const Count fed = refused ? 0 : static_cast<Count>(list.size()) - admission.reused;
    check_cell(row, "length", std::to_string(list.size()));
    check_cell(row, "common_prefix", std::to_string(admission.common_prefix));
    check_cell(row, "fed", std::to_string(fed));
    check_cell(row, "first_position", fed > 0 ? std::to_string(admission.reused) : "");
    check_cell(row, "capacity_before", std::to_string(admission.capacity_before));
    check_cell(row, "capacity_after", std::to_string(admission.capacity_after));
    check_cell(row, "bytes_before", std::to_string(bytes_before));
    check_cell(row, "bytes_after", std::to_string(cache.ledger().counters().reserved_bytes.total()));
    const bool first = admission.action == Action::first;
    CHECK(row.at("new_storage") == (first ? "first" : admission.replaced_storage ? "yes" : ""));
    check_cell(row, "resets", admission.action == Action::reset ? "1" : "0");
    CHECK(row.at("crop_to") == (admission.crop_to >= 0 ? std::to_string(admission.crop_to) : ""));
    CHECK(row.at("error").empty() == !refused);
    if (columns == Columns::all) {
      check_cell(row, "held_before", std::to_string(admission.held_before));
      check_cell(row, "held_after", std::to_string(admission.held_after));
      check_cell(row, "exact", admission.exact ? "yes" : "no");
    }
    if (!admission.exact && totals.first_wrong < 0) totals.first_wrong = static_cast<Count>(i);
    totals.fed += fed;
    totals.resets += admission.action == Action::reset;
    totals.crops += admission.action == Action::crop;
    totals.refused += refused;
  }
  return totals;
}

void check_observed(const Recording& recording, const Totals& totals, const MemoryCounters& counters) {
  const auto& observed = recording.observed;
  CHECK(totals.fed == observed.at("fed"));
  CHECK(totals.resets == observed.at("resets"));
  CHECK(totals.crops == observed.at("crops"));
  CHECK(counters.allocations == observed.at("allocations"));
  CHECK(counters.reallocations == observed.at("reallocations"));
  CHECK(counters.reserved_bytes.total() == observed.at("bytes_at_end"));
  if (observed.count("peak_bytes")) CHECK(counters.transient_bytes_peak.total() == observed.at("peak_bytes"));
}

}  // namespace

TEST_CASE("The guidance 0.2 preset answers every recorded call as the engine did") {
  // First wrong call of each recording, as measured.
  const std::map<std::string, Count> first_wrong{{"plain_w1024", 11}, {"plain_w64", 11},  {"stop_w1024", 4},
                                                 {"stop_w64", 4},     {"fork_w1024", 18}, {"fork_w64", 18},
                                                 {"json_w64", 17},    {"fewshot_w64", 20}};
  for (const std::string& program : programs) {
    for (const Count window : {1024, 64}) {
      const std::string name = program + "_w" + std::to_string(window);
      INFO(name);
      const Recording recording = read_recording(guidance_0_2 + name);
      const auto cache = plan_policy("guidance-0.2+transformers-4.47", tiny_gemma2(window));
      const Totals totals = replay(recording, *cache, Columns::all);
      check_observed(recording, totals, cache->ledger().counters());
      CHECK(totals.first_wrong == (first_wrong.count(name) ? first_wrong.at(name) : -1));
    }
  }
}

TEST_CASE("Doubling with the seed's keep rule equals guidance 0.2 where the window is never reached") {
  for (const std::string& program : programs) {
    INFO(program);
    const Recording recording = read_recording(guidance_0_2 + program + "_w1024");
    const auto cache = plan_policy("doubling:keep=seed", tiny_gemma2(1024));
    const Totals totals = replay(recording, *cache, Columns::without_belief);
    check_observed(recording, totals, cache->ledger().counters());
  }
}

TEST_CASE("The guidance 0.3 preset answers every recorded call as the engine did, refusals included") {
  for (const std::string& program : programs) {
    for (const Count window : {1024, 64}) {
      const std::string name = program + "_w" + std::to_string(window);
      INFO(name);
      const Recording recording = read_recording(guidance_0_3 + name);
      const auto cache = plan_policy("guidance-0.3+transformers-4.57", tiny_gemma2(window));
      const Totals totals = replay(recording, *cache, Columns::all);
      check_observed(recording, totals, cache->ledger().counters());
      CHECK(totals.refused == (name == "fewshot_w64" || name == "fork_w64" ? 1 : 0));
    }
  }
}
