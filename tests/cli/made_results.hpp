// Results made for a comparison: run once, then changed as a test wants them.
#pragma once

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

namespace kvreplay::cli::testing {

inline const std::string made_workload = "guidance-0.2.1_transformers-4.47.1/json_w64";

// A result of two policies, changed by `change`; gives its path.
template <typename Change>
std::string result_with(const ScratchFolder& scratch, const std::string& name, Change change) {
  const std::string path = scratch.path("made-" + name);
  REQUIRE(kvreplay("run --depth alloc --repetitions 10 -p crop -p fixed:capacity=512 -o " + path + " " +
                   recording(made_workload))
              .exit_code == 0);
  nlohmann::json file = nlohmann::json::parse(content_of(path));
  change(file);
  return scratch.file(name, file.dump());
}

inline void unchanged(nlohmann::json&) {}

// Times that are there and steady.
inline void steady(nlohmann::json& file) {
  for (nlohmann::json& run : file["results"]) {
    std::int64_t i = 0;
    for (nlohmann::json& repetition : run["repetitions"]) {
      repetition["latency"]["total_ns"] = 10'000'000 + 1000 * i++;
      repetition["process"] = nullptr;
    }
  }
}

}  // namespace kvreplay::cli::testing
