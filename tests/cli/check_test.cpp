// check: the model a workload names.

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace kvreplay::cli {
namespace {

using Catch::Matchers::Contains;
using testing::kvreplay;
using testing::ScratchFolder;

std::string workload(const ScratchFolder& scratch, const std::string& model) {
  return scratch.file(
      "w.yaml", "format: kv-workload/1\nmeta: {id: a, title: b}\ntokenizer: {name: t, vocab: 300}\nmodel: {" + model +
                    "}\nevents: [{new: s}, {append: 1 2 3}, {eval: 1}]\n");
}

}  // namespace

TEST_CASE("check refuses a model no replay could use, as run does") {
  const ScratchFolder scratch;
  const std::vector<std::pair<std::string, std::string>> faults{
      {"profile: tiny-gema2",
       "w.yaml:4:18: model.profile: there is no profile 'tiny-gema2' (did you mean 'tiny-gemma2'?)"},
      {"num_heads: 4, num_kv_heads: 3", "w.yaml:4:20: model.num_heads: num_heads (4) must be a multiple"},
      {"head_dim: 3", "w.yaml:4:19: model.head_dim: must be even"},
      {"num_layers: 1000000000", "w.yaml:4:21: model.num_layers: must be from 1 to 10000"},
      {"checkpoint: /etc/passwd", "w.yaml:4:21: model.checkpoint: '/etc/passwd' is no folder"},
      {"checkpoint: /", "w.yaml:4:21: model.checkpoint: '/' has no config.json; a checkpoint is a folder"},
      {"checkpoint: /no/such/folder, num_layers: 1000000000", "w.yaml:4:50: model.num_layers: must be"},
  };
  for (const auto& [model, says] : faults) {
    const std::string path = workload(scratch, model);
    INFO(model);
    const auto finished = kvreplay("check " + path);
    CHECK(finished.exit_code == 2);
    CHECK(finished.out.empty());
    CHECK_THAT(finished.err, Contains(says));
    CHECK(kvreplay("run --depth plan " + path).exit_code == 2);
  }
  const auto option = kvreplay("run --depth plan --model / " + workload(scratch, "profile: toy"));
  CHECK(option.exit_code == 2);
  CHECK_THAT(option.err, Contains("--model: '/' has no config.json"));
}

TEST_CASE("check warns of a checkpoint that is not on this machine") {
  const ScratchFolder scratch;
  const std::string path = workload(scratch, "checkpoint: no/such/folder, num_layers: 4");
  const auto finished = kvreplay("check " + path);
  CHECK(finished.exit_code == 0);
  CHECK_THAT(finished.out, Contains("ok, 1 evaluations"));
  CHECK_THAT(finished.err, Contains("warning: ") && Contains("w.yaml:4:21: model.checkpoint: there is no folder") &&
                               Contains("--model"));
  CHECK(kvreplay("run --depth plan " + path).exit_code == 2);
  CHECK(kvreplay("run --depth plan --model toy " + path).exit_code == 0);
}

}  // namespace kvreplay::cli
