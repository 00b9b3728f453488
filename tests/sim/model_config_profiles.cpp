// Dimensions and sizes of the built-in profiles (google/gemma-2-* config.json; sizes worked out by hand).

#include "tests/catch.hpp"

#include "policies/option_error.hpp"
#include "sim/decoder_stack.hpp"
#include "tests/sim/model_config_fixtures.hpp"

#include <algorithm>

namespace kvreplay::sim {
namespace {

using namespace fixtures;

// Bytes of a cache that holds n tokens, sliding layers only their window.
Count window_aware_bytes(const ModelConfig& config, Count n) {
  const policies::CacheGeometry geometry = config.geometry();
  return geometry.row_bytes() *
         (geometry.num_global_layers() * n + geometry.num_sliding_layers() * std::min(n, geometry.sliding_window));
}

}  // namespace

TEST_CASE("cache sizes of the 2B and 9B models follow from KV heads and kinds of layers") {
  const ModelConfig small = resolve("gemma2-2b"), medium = resolve("gemma2-9b");
  CHECK(small.geometry().row_bytes() == 8192);
  CHECK(window_aware_bytes(small, 1) == 212992);
  CHECK(window_aware_bytes(small, 4096) == 872415232);
  CHECK(window_aware_bytes(small, 4097) == 872521728);
  CHECK(window_aware_bytes(small, 8192) == 1308622848);
  CHECK(small.geometry().row_bytes() * 26 * 8192 == 1744830464);
  CHECK(window_aware_bytes(medium, 8192) == 4227858432);
  CHECK(medium.geometry().row_bytes() * 42 * 8192 == 5637144576);
  CHECK(window_aware_bytes(resolve("gemma2-2b:dtype=bf16"), 8192) == 1308622848 / 2);
}

TEST_CASE("profiles have the published dimensions") {
  const ModelConfig large = resolve("gemma2-27b");
  CHECK(large.num_layers == 46);
  CHECK(large.num_heads * large.head_dim == 4096);
  CHECK(large.query_pre_attn_scalar == 144);
  CHECK(resolve("gemma2-2b").query_pre_attn_scalar == 256);
  CHECK(resolve("gemma2-9b").query_pre_attn_scalar == 256);
  // 2,614,341,888 parameters, as Hugging Face counts google/gemma-2-2b; 9,241,705,984 and 27,227,128,320 likewise.
  CHECK(resolve("gemma2-2b").num_parameters() == 2614341888);
  CHECK(resolve("gemma2-9b").num_parameters() == 9241705984);
  CHECK(large.num_parameters() == 27227128320);
}

TEST_CASE("attention profiles have neither MLP nor head") {
  const ModelConfig config = resolve("gemma2-2b-attention:num_layers=4");
  CHECK(config.num_layers == 4);
  CHECK(config.intermediate_size == 0);
  CHECK_FALSE(config.has_head);
  // 26 layers of (2 x 2048 + 2 x 1024) x 2304 weights and two norms, one final norm.
  CHECK(resolve("gemma2-2b-attention").num_parameters() == 26 * (6144 * 2304 + 2 * 2304) + 2304);
}

TEST_CASE("layer kinds are a list of the model and never follow from a capacity") {
  for (const std::string positions : {"8", "12", "16", "64"}) {
    const policies::CacheGeometry geometry = resolve("toy:max_positions=" + positions).geometry();
    CHECK(geometry.slides == std::vector<bool>{true, false, true, false});
    CHECK(geometry.sliding_window == 8);
  }
}

TEST_CASE("every listed profile can be resolved, and each has a description") {
  for (const auto& [name, description] : model_profiles()) {
    CHECK(resolve(name).name == name);
    CHECK_FALSE(description.empty());
  }
}

TEST_CASE("a model larger than the machine is refused before anything is allocated") {
  const std::string message = message_of<policies::OptionError>(
      [] { const DecoderStack stack(resolve("gemma2-27b:num_layers=10000,hidden_size=65536")); });
  CHECK_THAT(message, Catch::Matchers::Contains("GiB of weights, this machine has"));
}

TEST_CASE("a stack refuses a configuration that was put together wrongly") {
  ModelConfig config = resolve("toy");
  config.slides.pop_back();
  CHECK_THROWS_AS(DecoderStack(config), policies::OptionError);
}

}  // namespace kvreplay::sim
