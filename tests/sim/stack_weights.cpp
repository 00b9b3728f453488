// Weights: the random ones' distribution, and checkpoints that are whole, sharded or broken.

#include "tests/catch.hpp"

#include "sim/decoder_stack.hpp"
#include "sim/plain_weights.hpp"
#include "tests/sim/model_config_fixtures.hpp"
#include "tests/sim/scratch_folder.hpp"
#include "tests/sim/stack_fixtures.hpp"

#include <omp.h>

#include <atomic>
#include <functional>
#include <set>

namespace kvreplay::sim {
namespace {

using namespace fixtures;
using Catch::Matchers::Contains;
using workloads::InputError;

const std::string odd_model = golden_path("gemma2/window_one");

// The tensors of a small checkpoint, to be changed and written again.
struct Tensors {
  std::map<std::string, std::vector<float>> values;
  std::map<std::string, std::vector<std::int64_t>> shapes;

  Tensors() {
    const SafetensorsFile file(odd_model + "/model.safetensors");
    for (const auto& [name, tensor] : file.tensors()) {
      values[name] = floats_of(file, name);
      shapes[name] = tensor.shape;
    }
  }

  void erase(const std::string& name) { values.erase(name), shapes.erase(name); }

  void write(const std::string& path, const std::function<bool(const std::string&)>& wanted,
             const std::string& prefix = "model.") const {
    std::vector<TensorSource> sources;
    for (const auto& [name, data] : values) {
      if (!wanted(name)) continue;
      sources.push_back({prefix + name.substr(6), "F32", shapes.at(name), {std::as_bytes(std::span(data))}});
    }
    write_safetensors(path, sources);
  }
};

bool every(const std::string&) { return true; }

PlainWeights load(const ScratchFolder& scratch) {
  ModelConfig config = read_checkpoint_config(odd_model);
  config.checkpoint = scratch.str();
  return make_plain_weights(config);
}

std::string load_error(const ScratchFolder& scratch) {
  return message_of<InputError>([&] { load(scratch); });
}

std::string load_error(const Tensors& tensors) {
  const ScratchFolder scratch;
  tensors.write(scratch.str() + "/model.safetensors", every);
  return load_error(scratch);
}

double root_mean_square(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

constexpr const char* q_proj = "model.layers.1.self_attn.q_proj.weight";

}  // namespace

TEST_CASE("random values are a function of seed, tensor and index, uniform and never zero or subnormal") {
  double sum = 0, squares = 0;
  std::set<float> distinct;
  constexpr std::uint64_t count = 100'000;
  for (std::uint64_t index = 0; index < count; ++index) {
    const float value = random_value(1, 3, index);
    REQUIRE(std::abs(value) < 1);
    REQUIRE(std::abs(value) >= 0x1p-23F);
    sum += static_cast<double>(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
    distinct.insert(value);
  }
  // Mean 0 and mean square 1/3, within six standard errors.
  CHECK(std::abs(sum / count) < 6 * std::sqrt(1.0 / 3 / count));
  CHECK(squares / count == Approx(1.0 / 3).margin(6 * std::sqrt(4.0 / 45 / count)));
  CHECK(distinct.size() > count * 98 / 100);  // of 2^23 values, half a percent of draws collide
  CHECK(random_value(1, 3, 5) == random_value(1, 3, 5));
  CHECK(random_value(1, 3, 5) != random_value(2, 3, 5));
  CHECK(random_value(1, 3, 5) != random_value(1, 4, 5));
}

TEST_CASE("random weights do not depend on the number of threads, and any element can be made alone") {
  const ModelConfig config = resolve("toy:hidden_size=400,intermediate_size=500");
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const PlainWeights one = make_plain_weights(config);
  omp_set_num_threads(3);
  const PlainWeights three = make_plain_weights(config);
  omp_set_num_threads(threads);
  CHECK(one.layers[2].up_proj == three.layers[2].up_proj);
  CHECK(one.embedding == three.embedding);
  std::vector<float> with_head(400), without_head(400);
  const ModelConfig headless = resolve("toy-attention:hidden_size=400");
  const PlainWeights none = make_plain_weights(headless);
  CHECK(none.embedding.size() == 0);
  for (const Count id : {0, 1, 255}) {
    std::copy_n(one.embedding.row(id).data(), 400, with_head.data());
    random_embedding(headless, id, without_head);
    CHECK(with_head == without_head);
  }
}

TEST_CASE("random models keep their activations near one through any depth") {
  for (const std::string model : {"toy", "toy:num_layers=40", "toy-attention:num_layers=26", "toy:hidden_size=256"}) {
    DecoderStack stack(resolve(model));
    Outputs outputs;
    std::vector<policies::TokenId> tokens;
    for (policies::TokenId id = 0; id < 60; ++id) tokens.push_back(id * 7);
    stack.evaluate_cold(tokens, outputs.observer());
    for (const std::vector<float>& rows : outputs.hidden) {
      CHECK(root_mean_square(rows) > 0.5);
      CHECK(root_mean_square(rows) < 2);
    }
  }
}

TEST_CASE("the bytes of weights are those that are held") {
  for (const std::string model : {"toy", "toy-attention", "tiny-gemma2"}) {
    const ModelConfig config = resolve(model);
    std::atomic<Count> elements = 0;
    read_weights(config, [&](const WeightSlot& slot) {
      return [&elements, columns = slot.columns](Count, Count count, const float*) { elements += count * columns; };
    });
    CHECK(elements * 4 == weight_bytes(config));
    CHECK(DecoderStack(config).weight_bytes() == weight_bytes(config));
  }
}

TEST_CASE("a bf16 checkpoint is widened exactly") {
  const ModelConfig config = resolve("tiny-gemma2");
  const PlainWeights weights = make_plain_weights(config);
  const SafetensorsFile file(config.checkpoint + "/model.safetensors");
  const TensorView& tensor = file.tensor("model.layers.3.mlp.down_proj.weight");
  REQUIRE(tensor.dtype == "BF16");
  std::uint16_t bits = 0;
  std::memcpy(&bits, tensor.bytes.data() + std::size_t{2} * (5 * 384 + 17), 2);
  std::uint32_t wide = 0;
  std::memcpy(&wide, &weights.layers[3].down_proj(5, 17), 4);
  CHECK(wide == std::uint32_t{bits} << 16);
}

TEST_CASE("names come with or without the model prefix") {
  const ScratchFolder scratch;
  const Tensors tensors;
  tensors.write(scratch.str() + "/model.safetensors", every, "");
  CHECK(load(scratch).layers[1].q_proj(0, 1) == tensors.values.at(q_proj)[1]);
}

TEST_CASE("a sharded checkpoint is read through its index") {
  const ScratchFolder scratch;
  const Tensors tensors;
  const auto in_second = [](const std::string& name) { return name.find("layers.1.") != std::string::npos; };
  tensors.write(scratch.str() + "/a.safetensors", [&](const std::string& name) { return !in_second(name); });
  tensors.write(scratch.str() + "/b.safetensors", in_second);
  std::string map;
  for (const auto& [name, data] : tensors.values) {
    map += (map.empty() ? "\"" : ", \"") + name + "\": \"" + (in_second(name) ? "b" : "a") + ".safetensors\"";
  }
  const auto write_index = [&](const std::string& index) { scratch.write("model.safetensors.index.json", index); };
  write_index("{\"metadata\": {\"total_size\": 1}, \"weight_map\": {" + map + "}}");
  CHECK(load(scratch).layers[1].q_proj(0, 1) == tensors.values.at(q_proj)[1]);

  write_index(R"({"weight_map": {"model.norm.weight": "b.safetensors"}})");
  CHECK_THAT(load_error(scratch), Contains("weight_map.model.norm.weight: b.safetensors holds no such tensor"));
  write_index(R"({"weight_map": {"model.norm.weight": "../a.safetensors"}})");
  CHECK_THAT(load_error(scratch), Contains("beside the index"));
  write_index(R"({"weight_map": {"model.norm.weight": "c.safetensors"}})");
  CHECK_THAT(load_error(scratch), Contains("c.safetensors"));
  write_index(R"({"weight_map": [1]})");
  CHECK_THAT(load_error(scratch), Contains("weight_map"));
  write_index(R"({"weight_map": {"x": 1}})");
  CHECK_THAT(load_error(scratch), Contains("weight_map.x"));
}

TEST_CASE("a checkpoint that does not fit is refused by tensor, with what was expected and found") {
  Tensors wrong_shape;
  wrong_shape.shapes[q_proj] = {24, 16};
  CHECK_THAT(load_error(wrong_shape), Contains(std::string(q_proj) + ": has shape [24, 16], the model needs [16, 24]"));
  Tensors wrong_rank;
  wrong_rank.shapes["model.norm.weight"] = {24, 1};
  CHECK_THAT(load_error(wrong_rank), Contains("model.norm.weight: has shape [24, 1], the model needs [24]"));
  Tensors missing;
  missing.erase(q_proj);
  CHECK_THAT(load_error(missing), Contains(std::string(q_proj) + ": the checkpoint has no such tensor"));
  const ScratchFolder empty;
  CHECK_THAT(load_error(empty), Contains("holds neither model.safetensors nor model.safetensors.index.json"));
}

TEST_CASE("weights that are no numbers are refused by tensor and element") {
  Tensors with_nan;
  with_nan.values[q_proj][5] = std::numeric_limits<float>::quiet_NaN();
  CHECK_THAT(load_error(with_nan), Contains(std::string(q_proj) + ": element 5 is NaN"));
  Tensors with_infinity;
  with_infinity.values["model.norm.weight"][23] = -std::numeric_limits<float>::infinity();
  CHECK_THAT(load_error(with_infinity), Contains("model.norm.weight: element 23 is infinite"));
}

TEST_CASE("weights of a type that holds no floats are refused by tensor") {
  const ScratchFolder scratch;
  const Tensors tensors;
  std::vector<TensorSource> sources;
  for (const auto& [name, data] : tensors.values) {
    sources.push_back(
        {name, name == q_proj ? "I32" : "F32", tensors.shapes.at(name), {std::as_bytes(std::span(data))}});
  }
  write_safetensors(scratch.str() + "/model.safetensors", sources);
  CHECK_THAT(load_error(scratch), Contains(std::string(q_proj) + ": has dtype I32"));
}

TEST_CASE("other dimensions than a checkpoint's are a named error when its weights are loaded") {
  const std::string message = message_of<InputError>([] { make_plain_weights(resolve("tiny-gemma2:hidden_size=64")); });
  CHECK_THAT(message, Contains("model.embed_tokens.weight: has shape [2048, 128], the model needs [2048, 64]"));
  CHECK_THAT(message_of<InputError>([] { make_plain_weights(resolve("tiny-gemma2:num_layers=7")); }),
             Contains("model.layers.6.input_layernorm.weight"));
  CHECK(make_plain_weights(resolve("tiny-gemma2:num_layers=4")).layers.size() == 4);
}

}  // namespace kvreplay::sim
