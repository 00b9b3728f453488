// config.json: Hugging Face's defaults for what is missing, and a named error for what this stack can not compute.

#include "tests/catch.hpp"

#include "tests/sim/model_config_fixtures.hpp"
#include "tests/sim/scratch_folder.hpp"

namespace kvreplay::sim {
namespace {

using namespace fixtures;
using Catch::Matchers::Contains;
using workloads::InputError;

ModelConfig read(const std::string& json) {
  const ScratchFolder scratch;
  scratch.write("config.json", json);
  return read_checkpoint_config(scratch.str());
}

std::string error_of(const std::string& json) {
  return message_of<InputError>([&] { read(json); });
}

}  // namespace

TEST_CASE("missing keys of config.json take transformers' Gemma2Config defaults") {
  const ModelConfig config = read("{}");
  CHECK(config.vocab_size == 256000);
  CHECK(config.hidden_size == 2304);
  CHECK(config.intermediate_size == 9216);
  CHECK(config.num_layers == 26);
  CHECK(config.num_heads == 8);
  CHECK(config.num_kv_heads == 4);
  CHECK(config.head_dim == 256);
  CHECK(config.max_positions == 8192);
  CHECK(config.rms_norm_eps == 1e-6);
  CHECK(config.rope_theta == 10000);
  CHECK(config.query_pre_attn_scalar == 256);
  CHECK(config.sliding_window == 4096);
  CHECK(config.final_softcap == 30);
  CHECK(config.attn_softcap == 50);
  CHECK(config.slides.size() == 26);
  CHECK(config.slides[0]);
  CHECK_FALSE(config.slides[25]);
}

TEST_CASE("config.json gives every dimension under Hugging Face's names") {
  const ModelConfig config = read(R"({"model_type": "gemma2", "num_hidden_layers": 3, "num_attention_heads": 6,
    "num_key_value_heads": 3, "head_dim": 12, "hidden_size": 52, "intermediate_size": 104, "vocab_size": 131,
    "query_pre_attn_scalar": 12, "sliding_window": 8, "max_position_embeddings": 512, "rms_norm_eps": 1e-05,
    "attn_logit_softcapping": null, "final_logit_softcapping": 2.5, "rope_theta": 500.0,
    "layer_types": ["full_attention", "sliding_attention", "full_attention"], "torch_dtype": "bfloat16"})");
  CHECK(config.num_layers == 3);
  CHECK(config.num_heads == 6);
  CHECK(config.num_kv_heads == 3);
  CHECK(config.head_dim == 12);
  CHECK(config.max_positions == 512);
  CHECK(config.rms_norm_eps == 1e-5);
  CHECK(config.attn_softcap == 0);
  CHECK(config.final_softcap == 2.5);
  CHECK(config.rope_theta == 500);
  CHECK(config.slides == std::vector<bool>{false, true, false});
  CHECK(config.cache_dtype == policies::ElementType::fp32);
}

TEST_CASE("RoPE settings are read from both places transformers has put them") {
  CHECK(read(R"({"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}})").rope_theta == 500);
  CHECK(read(R"({"rope_scaling": null, "rope_theta": 700})").rope_theta == 700);
  CHECK_THAT(error_of(R"({"rope_scaling": {"rope_type": "linear", "factor": 2.0}})"), Contains("rope_scaling"));
  CHECK_THAT(error_of(R"({"rope_parameters": {"rope_type": "yarn", "rope_theta": 500.0}})"),
             Contains("rope_parameters.rope_type"));
}

TEST_CASE("what this stack can not compute is refused by key") {
  CHECK_THAT(error_of(R"({"model_type": "gemma3_text"})"), Contains("config.json: model_type") && Contains("gemma2"));
  CHECK_THAT(error_of(R"({"tie_word_embeddings": false})"), Contains("tie_word_embeddings"));
  CHECK_THAT(error_of(R"({"attention_bias": true})"), Contains("attention_bias"));
  CHECK_THAT(error_of(R"({"hidden_activation": "silu"})"), Contains("hidden_activation"));
  CHECK_THAT(error_of(R"({"quantization_config": {"bits": 4}})"), Contains("quantization_config"));
  CHECK_THAT(error_of(R"({"use_bidirectional_attention": true})"), Contains("use_bidirectional_attention"));
}

TEST_CASE("values of config.json that make no model are refused by key") {
  CHECK_THAT(error_of(R"({"num_hidden_layers": 0})"), Contains("num_hidden_layers"));
  CHECK_THAT(error_of(R"({"num_hidden_layers": -3})"), Contains("num_hidden_layers"));
  CHECK_THAT(error_of(R"({"num_hidden_layers": 2.5})"), Contains("num_hidden_layers") && Contains("whole number"));
  CHECK_THAT(error_of(R"({"hidden_size": "64"})"), Contains("hidden_size") && Contains("must be a number"));
  CHECK_THAT(error_of(R"({"hidden_size": true})"), Contains("hidden_size"));
  CHECK_THAT(error_of(R"({"hidden_size": null})"), Contains("hidden_size"));
  CHECK_THAT(error_of(R"({"intermediate_size": 0})"), Contains("intermediate_size"));
  CHECK_THAT(error_of(R"({"sliding_window": 0})"), Contains("sliding_window"));
  CHECK_THAT(error_of(R"({"sliding_window": -1})"), Contains("sliding_window"));
  CHECK_THAT(error_of(R"({"attn_logit_softcapping": 0})"), Contains("attn_logit_softcapping"));
  CHECK_THAT(error_of(R"({"final_logit_softcapping": -1.0})"), Contains("final_logit_softcapping"));
  CHECK_THAT(error_of(R"({"num_attention_heads": 6})"), Contains("num_attention_heads") && Contains("multiple"));
  CHECK_THAT(error_of(R"({"head_dim": 13})"), Contains("head_dim") && Contains("even"));
  CHECK_THAT(error_of(R"({"hidden_size": 18446744073709551616})"), Contains("hidden_size"));
  CHECK_THAT(error_of(R"({"vocab_size": 1000000000000})"), Contains("vocab_size"));
}

TEST_CASE("layer_types must name one known kind per layer") {
  CHECK_THAT(error_of(R"({"num_hidden_layers": 2, "layer_types": ["full_attention"]})"), Contains("1 entries for 2"));
  CHECK_THAT(error_of(R"({"num_hidden_layers": 1, "layer_types": ["full_attention", "full_attention"]})"),
             Contains("layer_types"));
  CHECK_THAT(error_of(R"({"num_hidden_layers": 1, "layer_types": ["chunked_attention"]})"), Contains("layer_types[0]"));
  CHECK_THAT(error_of(R"({"num_hidden_layers": 1, "layer_types": "full_attention"})"), Contains("layer_types"));
  CHECK(read(R"({"num_hidden_layers": 2, "layer_types": null})").slides == std::vector<bool>{true, false});
}

TEST_CASE("a config.json that is no JSON object is refused with its place") {
  CHECK_THAT(error_of("{\"hidden_size\": 64,\n \"head_dim\" 4}"), Contains("config.json:2:"));
  CHECK_THAT(error_of(""), Contains("config.json:1:1"));
  CHECK_THAT(error_of("[1]"), Contains("JSON object"));
  CHECK_THAT(error_of(R"({"hidden_size": 64, "hidden_size": 65})"), Contains("hidden_size") && Contains("twice"));
  CHECK_THAT(error_of(R"({"hidden_size": 1e999})"), Contains("config.json"));
  CHECK_THAT(error_of("{\"a\": " + std::string(200, '[') + std::string(200, ']') + "}"), Contains("deep"));
  const ScratchFolder scratch;
  CHECK_THAT(message_of<InputError>([&] { read_checkpoint_config(scratch.str()); }), Contains("config.json"));
}

}  // namespace kvreplay::sim
