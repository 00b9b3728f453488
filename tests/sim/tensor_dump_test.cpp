// Dumps against Hugging Face's own outputs of the same ledger.

#include "sim/tensor_dump.hpp"
#include "sim/safetensors.hpp"
#include "tests/catch.hpp"
#include "tests/sim/replays.hpp"
#include "tests/sim/scratch_folder.hpp"

#include <fmt/format.h>

#include <set>

namespace kvreplay::sim {
namespace {

using testing::loaded_text;
using testing::replay_of;
using testing::source_path;

std::vector<float> floats(const SafetensorsFile& file, const std::string& name) {
  const TensorView& tensor = file.tensor(name);
  std::vector<float> values(static_cast<std::size_t>(tensor.num_elements()));
  copy_as_float(tensor, values);
  return values;
}

std::string dump(const LoadedWorkload& loaded, const std::string& policy, const std::string& folder) {
  DecoderStack stack(loaded.model);
  TensorDump dump(folder, loaded.workload, policy, stack, true);
  ReplayListener* listener = &dump;
  (void)replay_of(loaded, policy, {.depth = Depth::compute}, &stack, std::span(&listener, 1));
  return dump.write();
}

}  // namespace

TEST_CASE("a dump of a recording equals Hugging Face on the golden's rows") {
  const fixtures::ScratchFolder scratch;
  const LoadedWorkload loaded =
      load_workload(source_path("workloads/recorded/guidance-0.2.1_transformers-4.47.1/fewshot_w64.yaml"), {}, false);
  const SafetensorsFile golden(source_path("tests/golden/tiny-gemma2/fewshot_w64.safetensors"));
  const SafetensorsFile ours(dump(loaded, "crop", scratch.str()));
  // The longest list extends no other few-shot list past its forks, so rows are found by position in the last answer.
  const auto golden_rows = int32_values(golden, "rows"), our_rows = int32_values(ours, "rows");
  const auto vocab = static_cast<std::size_t>(loaded.model.vocab_size);
  const auto hidden = static_cast<std::size_t>(loaded.model.hidden_size);
  const std::size_t last = our_rows.size() - 1;
  const auto found = std::find(golden_rows.begin(), golden_rows.end(), our_rows[last]);
  REQUIRE(found != golden_rows.end());
  const auto row = static_cast<std::size_t>(found - golden_rows.begin());
  const auto compare = [&](const std::string& name, std::size_t columns) {
    INFO(name);
    const auto a = floats(ours, name), b = floats(golden, name);
    for (std::size_t i = 0; i < columns; ++i) REQUIRE(std::abs(a[last * columns + i] - b[row * columns + i]) < 1e-4F);
  };
  compare("logits", vocab);
  for (int index = 0; index <= loaded.model.num_layers; ++index) compare(fmt::format("hidden_{:02}", index), hidden);
}

TEST_CASE("a dump has a row for every wanted row of logits, stored answers repeated") {
  const fixtures::ScratchFolder scratch;
  const LoadedWorkload loaded = loaded_text(
      "format: kv-workload/1\nmeta: {id: d, title: d}\ntokenizer: {name: t, vocab: 256}\nmodel: {profile: "
      "toy}\nevents:\n"
      "  - new: s\n  - append: \"1 2 3\"\n  - eval: 1\n  - eval: 1\n  - append: \"4 5\"\n  - eval: {logits: all}\n");
  const SafetensorsFile file(dump(loaded, "crop", scratch.str()));
  CHECK(int32_values(file, "rows") == std::vector<std::int32_t>{2, 2, 3, 4});
  CHECK(int32_values(file, "evaluation") == std::vector<std::int32_t>{0, 1, 2, 2});
  CHECK(int32_values(file, "input_ids") == std::vector<std::int32_t>{1, 2, 3, 4, 5});
  CHECK(file.tensors().count("list_offsets") == 0);
  const auto logits = floats(file, "logits");
  const auto columns = static_cast<std::ptrdiff_t>(loaded.model.vocab_size);
  CHECK(std::equal(logits.begin(), logits.begin() + columns, logits.begin() + columns));
}

TEST_CASE("names of dumps are safe and differ for different files and policies") {
  std::set<std::string> names;
  for (const char* path : {"a/w.yaml", "b/w.yaml", "../../w.yaml", "a/w w.yaml", "a/w_w.yaml"}) {
    for (const char* policy : {"crop", "fixed:capacity=4", "fixed:capacity_4"}) {
      const std::string name = dump_file_name(path, policy);
      CHECK(name.find('/') == std::string::npos);
      names.insert(name);
    }
  }
  CHECK(names.size() == 15);
}

}  // namespace kvreplay::sim
