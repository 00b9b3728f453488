// The example of docs/workload-format.md, against what the page says of it.
#include "tests/catch.hpp"
#include "workloads/expansion.hpp"
#include "workloads/reader.hpp"
#include "workloads/yaml/source_text.hpp"

using namespace kvreplay::workloads;

TEST_CASE("the example of the format page is what the page says") {
  const std::string page = yaml::read_file(std::string(KVREPLAY_SOURCE_DIR) + "/docs/workload-format.md");
  const std::string fence = "```yaml\n";
  const std::size_t begin = page.find(fence);
  REQUIRE(begin != std::string::npos);
  const std::size_t end = page.find("```", begin + fence.size());
  const Workload workload = read_workload_text(page.substr(begin + fence.size(), end - begin - fence.size()), "page");
  std::vector<std::size_t> lengths;
  Expansion expansion(workload);
  while (const Step* step = expansion.next()) {
    if (step->kind == StepKind::evaluate) lengths.push_back(step->tokens.size());
  }
  CHECK(lengths == std::vector<std::size_t>{102, 103, 104});
  const Facts facts = facts_of(workload, {true, false});
  CHECK(facts.tokens_floor_single == 104);
  CHECK(facts.tokens_requested == 309);
  CHECK(facts.rewound == 1);
}
