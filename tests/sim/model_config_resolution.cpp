// Which model a run uses: profile or checkpoint, the workload's keys, then the command line.

#include "tests/catch.hpp"

#include "policies/option_error.hpp"
#include "tests/sim/model_config_fixtures.hpp"
#include "tests/sim/scratch_folder.hpp"

namespace kvreplay::sim {
namespace {

using namespace fixtures;
using Catch::Matchers::Contains;
using policies::OptionError;
using workloads::InputError;

std::string option_error(const std::string& model) {
  return message_of<OptionError>([&] { resolve(model); });
}

std::string input_error(const workloads::Workload& workload) {
  return message_of<InputError>([&] { resolve_model(workload, {}); });
}

const std::string tiny_folder = std::string(KVREPLAY_SOURCE_DIR) + "/workloads/models/tiny-gemma2";

}  // namespace

TEST_CASE("a workload without a model is replayed with Gemma 2 2B") {
  CHECK(resolve("").name == "gemma2-2b");
  CHECK(resolve("").num_layers == 26);
}

TEST_CASE("explicit keys of the workload make a custom model and keep Gemma 2's other values") {
  const ModelConfig config =
      resolve_model(workload_with({{"num_layers", "6"}, {"hidden_size", "128"}, {"dtype", "bf16"}, {"seed", "7"}}), {});
  CHECK(config.name == "custom");
  CHECK(config.num_layers == 6);
  CHECK(config.slides == std::vector<bool>{true, false, true, false, true, false});
  CHECK(config.hidden_size == 128);
  CHECK(config.head_dim == 256);
  CHECK(config.cache_dtype == policies::ElementType::bf16);
  CHECK(config.seed == 7);
}

TEST_CASE("the workload's keys change its profile, the command line's change both") {
  const workloads::Workload workload =
      workload_with({{"profile", "toy"}, {"sliding_window", "5"}, {"num_layers", "2"}});
  const ModelConfig alone = resolve_model(workload, {});
  CHECK(alone.name == "toy");
  CHECK(alone.sliding_window == 5);
  CHECK(alone.num_layers == 2);

  const ModelConfig changed = resolve_model(workload, {":sliding_window=6,dtype=bf16", {}, {}, {}});
  CHECK(changed.name == "toy");
  CHECK(changed.sliding_window == 6);
  CHECK(changed.num_layers == 2);
  CHECK(changed.cache_dtype == policies::ElementType::bf16);

  const ModelConfig replaced = resolve_model(workload, {"gemma2-9b:num_layers=3", {}, {}, {}});
  CHECK(replaced.name == "gemma2-9b");
  CHECK(replaced.sliding_window == 4096);
  CHECK(replaced.num_layers == 3);
  CHECK(replaced.slides == std::vector<bool>{true, false, true});
}

TEST_CASE("the options --kv-dtype and --max-positions have the last word") {
  const ModelConfig config = resolve_model(workload_with({{"profile", "toy"}, {"dtype", "bf16"}}),
                                           {":max_positions=16", {}, "fp32", Count{131072}});
  CHECK(config.cache_dtype == policies::ElementType::fp32);
  CHECK(config.max_positions == 131072);
  CHECK(config.geometry().max_positions == 131072);
}

TEST_CASE("a checkpoint may be a shipped name, a folder, or a folder beside the workload") {
  CHECK(resolve("tiny-gemma2").checkpoint == shipped_model_folder("tiny-gemma2"));
  CHECK(resolve("tiny-gemma2:sliding_window=1024").sliding_window == 1024);
  CHECK(resolve(tiny_folder).num_layers == 6);
  const std::string path = std::string(KVREPLAY_SOURCE_DIR) + "/workloads/recorded/any.yaml";
  const ModelConfig beside =
      resolve_model(workload_with({{"checkpoint", "../models/tiny-gemma2"}, {"sliding_window", "1024"}}, path), {});
  CHECK(beside.checkpoint == tiny_folder);
  CHECK(beside.sliding_window == 1024);
  CHECK(resolve_model(workload_with({{"checkpoint", "tiny-gemma2"}}), {}).hidden_size == 128);
}

TEST_CASE("the option --weights keeps the workload's dimensions") {
  const ModelConfig config =
      resolve_model(workload_with({{"num_layers", "6"}, {"sliding_window", "9"}}), {{}, "tiny-gemma2", {}, {}});
  CHECK(config.checkpoint == shipped_model_folder("tiny-gemma2"));
  CHECK(config.hidden_size == 2304);
  CHECK(config.sliding_window == 9);
  CHECK_THROWS_AS(resolve_model(workload_with({}), {{}, "no-such-weights", {}, {}}), OptionError);
}

TEST_CASE("a folder whose name holds a colon is still a folder") {
  const ScratchFolder scratch;
  scratch.write("a:b/config.json", R"({"model_type": "gemma2", "num_hidden_layers": 3})");
  CHECK(resolve(scratch.str() + "/a:b").num_layers == 3);
  CHECK(resolve(scratch.str() + "/a:b:num_layers=2").num_layers == 2);
}

TEST_CASE("softcaps are switched off by name and never by zero") {
  CHECK(resolve("toy:attn_softcap=off").attn_softcap == 0);
  CHECK(resolve_model(workload_with({{"profile", "toy"}, {"final_softcap", "null"}}), {}).final_softcap == 0);
  for (const std::string value : {"0", "-50", "nan", "inf", "-inf", "1e999", ""}) {
    CHECK_THROWS_AS(resolve("toy:attn_softcap=" + value), OptionError);
  }
}

TEST_CASE("values of the command line that do not fit are refused by key") {
  CHECK_THAT(option_error("toy:sliding_window=0"), Contains("sliding_window") && Contains("from 1"));
  CHECK_THAT(option_error("toy:sliding_window=-1"), Contains("sliding_window"));
  CHECK_THAT(option_error("toy:num_layers=2.5"), Contains("whole number"));
  CHECK_THAT(option_error("toy:num_layers=99999999999999999999"), Contains("num_layers"));
  CHECK_THAT(option_error("toy:num_heads=3"), Contains("multiple of num_kv_heads"));
  CHECK_THAT(option_error("toy:head_dim=15"), Contains("even"));
  CHECK_THAT(option_error("toy:rms_norm_eps=0"), Contains("rms_norm_eps"));
  CHECK_THAT(option_error("toy:rope_theta=-1"), Contains("rope_theta"));
  CHECK_THAT(option_error("toy:dtype=fp16"), Contains("fp32 or bf16"));
  CHECK_THAT(option_error("toy:num_layers"), Contains("key=value"));
  CHECK_THAT(option_error("toy:"), Contains("key=value"));
  CHECK_THAT(option_error("toy:num_layers=2,"), Contains("key=value"));
  CHECK_THAT(option_error("toy:num_layers=2,num_layers=3"), Contains("twice"));
  CHECK_THAT(option_error("toy:profile=gemma2-2b"), Contains("before the colon"));
  CHECK_THAT(option_error("toy:num_heads=65536,num_kv_heads=1,head_dim=65536"), Contains("num_heads x head_dim"));
  CHECK_THAT(option_error("gemma2-27b:max_positions=1000000000000,num_layers=10000"), Contains("cache"));
  CHECK_THAT(message_of<OptionError>([] { resolve_model(workload_with({}), {{}, {}, "fp8", {}}); }),
             Contains("--kv-dtype"));
  CHECK_THAT(message_of<OptionError>([] { resolve_model(workload_with({}), {{}, {}, {}, Count{0}}); }),
             Contains("--max-positions"));
}

TEST_CASE("an unknown name or key comes with candidates") {
  try {
    resolve("gemma2-2");
    FAIL("accepted");
  } catch (const OptionError& error) {
    CHECK(error.given == "gemma2-2");
    CHECK(std::find(error.candidates.begin(), error.candidates.end(), "gemma2-2b") != error.candidates.end());
  }
  try {
    resolve("toy:num_layer=2");
    FAIL("accepted");
  } catch (const OptionError& error) {
    CHECK(error.given == "num_layer");
    CHECK(std::find(error.candidates.begin(), error.candidates.end(), "num_layers") != error.candidates.end());
  }
}

TEST_CASE("faults of a workload's model name file, line and key") {
  CHECK_THAT(input_error(workload_with({{"profile", "toy"}, {"sliding_window", "0"}})),
             Contains("w.yaml:11:3: model.sliding_window"));
  CHECK_THAT(input_error(workload_with({{"profile", "gemma3"}})), Contains("w.yaml:10:3: model.profile"));
  CHECK_THAT(input_error(workload_with({{"profile", "toy"}, {"checkpoint", "x"}})), Contains("not both"));
  CHECK_THAT(input_error(workload_with({{"checkpoint", "no/such/folder"}})), Contains("w.yaml:10:3: model.checkpoint"));
  CHECK_THAT(input_error(workload_with({{"profile", "toy"}, {"num_kv_heads", "3"}})),
             Contains("w.yaml:11:3: model.num_"));
  CHECK_THAT(input_error(workload_with({{"num_layer", "3"}})), Contains("model.num_layer") && Contains("not a key"));
}

TEST_CASE("shipped models are looked for under their plain names only") {
  CHECK_FALSE(shipped_model_folder("tiny-gemma2").empty());
  for (const std::string_view name : {"", ".", "..", "../models/tiny-gemma2", "/tmp", "no-such-model"}) {
    CHECK(shipped_model_folder(name).empty());
  }
  const ScratchFolder scratch;
  scratch.write("workloads/models/mine/config.json", "{}");
  ::setenv("KVREPLAY_DATA_DIR", scratch.str().c_str(), 1);
  CHECK(shipped_model_folder("mine") == scratch.str() + "/workloads/models/mine");
  CHECK_FALSE(shipped_model_folder("tiny-gemma2").empty());
  ::unsetenv("KVREPLAY_DATA_DIR");
}

}  // namespace kvreplay::sim
