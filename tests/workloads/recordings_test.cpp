// The shipped recordings against the engines' own logs.
#include "tests/catch.hpp"
#include "workloads/expansion.hpp"
#include "workloads/reader.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

using namespace kvreplay::workloads;

namespace {

const std::filesystem::path folder = std::filesystem::path(KVREPLAY_SOURCE_DIR) / "workloads" / "recorded";

std::vector<std::filesystem::path> files_in(const std::string& engine) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder / engine)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  return files;
}

// Rows of a log, cells by column name.
std::vector<std::map<std::string, std::string>> log_of(std::filesystem::path workload) {
  workload.replace_extension(".observed.csv");
  std::ifstream stream(workload);
  REQUIRE(stream.good());
  std::vector<std::string> names;
  std::vector<std::map<std::string, std::string>> rows;
  for (std::string line; std::getline(stream, line);) {
    std::vector<std::string> cells;
    std::stringstream parts(line);
    for (std::string cell; std::getline(parts, cell, ',');) cells.push_back(cell);
    if (names.empty()) {
      names = cells;
      continue;
    }
    auto& row = rows.emplace_back();
    for (std::size_t i = 0; i < std::min(cells.size(), names.size()); ++i) row[names[i]] = cells[i];
  }
  return rows;
}

}  // namespace

TEST_CASE("every recording asks for the lists the engine was asked for") {
  std::vector<std::string> batches;
  for (const std::string engine : {"guidance-0.2.1_transformers-4.47.1", "guidance-0.3.1_transformers-4.57.6",
                                   "llama.cpp", "transformers-4.47.1", "transformers-4.57.6", "transformers-5.24.0"}) {
    const auto files = files_in(engine);
    REQUIRE(!files.empty());
    for (const auto& file : files) {
      CAPTURE(file.string());
      const Workload workload = read_workload(file);
      CHECK(workload.model.checkpoint->value == "../../models/tiny-gemma2");
      CHECK(std::filesystem::exists(file.parent_path() / workload.model.checkpoint->value / "config.json"));
      CHECK(workload.vocab == 2048);
      if (workload.expect.observed.empty()) {  // what the engine did for all rows at once is no log of its calls
        CHECK(!std::filesystem::exists(std::filesystem::path(file).replace_extension(".observed.csv")));
        batches.push_back(file.filename().string());
        continue;
      }
      REQUIRE(workload.expect.observed.size() == 1);
      const auto rows = log_of(file);
      Expansion expansion(workload);
      std::size_t evaluation = 0;
      while (const Step* step = expansion.next()) {
        if (step->kind != StepKind::evaluate) continue;
        REQUIRE(evaluation < rows.size());
        const auto& row = rows[evaluation];
        REQUIRE(row.at("call") == std::to_string(evaluation));
        REQUIRE(row.at("length") == std::to_string(step->tokens.size()));
        // The engines compare with the list of the call before; the others are told where to go on.
        if (engine.starts_with("guidance"))
          REQUIRE(row.at("common_prefix") == std::to_string(step->common_prefix_last));
        ++evaluation;
      }
      CHECK(evaluation == rows.size());
    }
  }
  CHECK(batches == std::vector<std::string>{"beams_w64.yaml"});
}

TEST_CASE("what was observed is kept as written") {
  const Observed refused =
      read_workload(folder / "guidance-0.3.1_transformers-4.57.6" / "fewshot_w64.yaml").expect.observed.at(0);
  CHECK(refused.engine == "guidance 0.3.1 + transformers 4.57.6");
  CHECK(refused.policy == "guidance-0.3+transformers-4.57");
  CHECK(refused.fed == Count{71});
  CHECK(refused.reallocations == Count{22});
  CHECK(refused.crops == Count{3});
  CHECK(refused.bytes_at_end == Count{202752});
  CHECK(!refused.peak_bytes);
  CHECK(refused.then->starts_with("ValueError: Cannot `crop`"));
  CHECK(refused.then_keep == Count{65});
  CHECK(refused.then_length == Count{65});
  const Observed llama = read_workload(folder / "llama.cpp" / "json_w64_ring256.yaml").expect.observed.at(0);
  CHECK(llama.policy == "llama.cpp:n_ctx=1024,n_batch=32,n_ubatch=32,swa_full=false");
}

TEST_CASE("the examples load") {
  for (const auto& file : files_in("examples")) CHECK(read_workload(file).events.size() > 1);
  CHECK(files_in("examples").size() == 5);
}
