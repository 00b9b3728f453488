// The options of the stack, through the program: which kernels, threads, chunks, pages and element types change what.

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace kvreplay::cli::testing {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;

// The result of a run of a short recording with some options.
json result_with(const ScratchFolder& scratch, const std::string& options) {
  const std::string file = scratch.path("result.json");
  const Finished finished =
      kvreplay("run " + recording("guidance-0.2.1_transformers-4.47.1/stop_w64") + " " + options + " -o " + file);
  INFO(finished.err);
  REQUIRE(finished.exit_code == 0);
  return json::parse(content_of(file));
}

std::vector<json> counters_of(const json& result) {
  std::vector<json> counters;
  for (const json& run : result["results"]) counters.push_back(run["counters"]);
  return counters;
}

}  // namespace

TEST_CASE("kernels, threads, pages and weight types change no counter, and the result names them") {
  const ScratchFolder scratch;
  const json fast = result_with(scratch, "--threads 1");
  CHECK(fast["config"]["kernels"] == "fast");
  CHECK(fast["config"]["pages"] == "huge");
  CHECK(fast["provenance"].contains("kernels_instruction_set"));
  CHECK(fast["results"][0]["repetitions"][0]["process"]["workspace_bytes"] > 0);
  for (const std::string options :
       {"--kernels plain", "--threads 2", "--pages small", "--pages populate", "--dtype bf16"}) {
    INFO(options);
    CHECK(counters_of(result_with(scratch, options)) == counters_of(fast));
  }
}

TEST_CASE("chunks take less scratch memory, change no counter and no output") {
  const ScratchFolder scratch;
  const json whole = result_with(scratch, "--verify"), chunked = result_with(scratch, "--prefill-chunk 3 --verify");
  CHECK(counters_of(chunked) == counters_of(whole));
  const auto workspace = [](const json& result) {
    return result["results"][0]["repetitions"][0]["process"]["workspace_bytes"].get<long>();
  };
  CHECK(workspace(chunked) < workspace(whole));
}

TEST_CASE("both kinds of kernels verify, with either weights") {
  const std::string file = recording("guidance-0.2.1_transformers-4.47.1/stop_w64");
  for (const std::string options : {"--kernels fast", "--kernels plain", "--kernels fast --dtype bf16"}) {
    INFO(options);
    CHECK(kvreplay("verify " + file + " " + options).exit_code == 0);
  }
}

TEST_CASE("wrong options of the stack are refused by name, with the values there are") {
  const std::string run = "run " + recording("guidance-0.2.1_transformers-4.47.1/stop_w64") + " ";
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"--kernels quick", "--kernels takes fast or plain, not 'quick'"},
      {"--pages large", "--pages takes small or huge or populate, not 'large'"},
      {"--dtype fp16", "--dtype takes fp32 or bf16, not 'fp16'"},
      {"--prefill-chunk 0", "--prefill-chunk"},
      {"--prefill-chunk -1", "--prefill-chunk"},
      {"--prefill-chunk 8 -p guidance-0.2+transformers-4.47", "imitates an engine that feeds every call whole"}};
  for (const auto& [options, message] : wrong) {
    INFO(options);
    const Finished finished = kvreplay(run + options);
    CHECK(finished.exit_code == 2);
    CHECK_THAT(finished.err, Contains(message));
  }
}

TEST_CASE("a model that does not fit the memory is refused before anything is taken") {
  const Finished finished = kvreplay("run " + recording("guidance-0.2.1_transformers-4.47.1/stop_w64") +
                                     " --model gemma2-27b:num_layers=400 --yes");
  CHECK(finished.exit_code == 2);
  CHECK_THAT(finished.err, Contains("GiB of weights, this machine has") && Contains("--dtype bf16"));
}

}  // namespace kvreplay::cli::testing
