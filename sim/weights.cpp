#include "sim/weights.hpp"

#include "policies/option_error.hpp"
#include "sim/available_memory.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace kvreplay::sim {
namespace {

constexpr std::uint64_t embedding_id = 0, final_norm_id = 1, first_layer_id = 16, ids_per_layer = 16;
constexpr double norm_spread = 0.1;

// Half the width of a uniform distribution of standard deviation 1 / sqrt(fan_in): products of unit rows stay unit.
double projection_spread(Count fan_in) { return std::numbers::sqrt3 / std::sqrt(static_cast<double>(fan_in)); }

bool has_embedding(const ModelConfig& config) { return config.has_head || !config.checkpoint.empty(); }

class SlotList {
 public:
  explicit SlotList(std::vector<WeightSlot>& slots) : slots_(slots) {}

  void add(const std::string& name, std::uint64_t id, Matrix& matrix, Count rows, Count columns) {
    slots_.push_back({name, id, rows, columns, false, 0, projection_spread(columns), &matrix, nullptr});
  }
  void add(const std::string& name, std::uint64_t id, Eigen::VectorXf& vector, Count size, double centre) {
    slots_.push_back({name, id, size, 1, true, centre, norm_spread * (1 + centre), nullptr, &vector});
  }

 private:
  std::vector<WeightSlot>& slots_;
};

void add_layer(const ModelConfig& config, Count layer, LayerWeights& weights, SlotList& list) {
  const std::string name = fmt::format("layers.{}.", layer);
  const std::uint64_t id = first_layer_id + static_cast<std::uint64_t>(layer) * ids_per_layer;
  const Count hidden = config.hidden_size, intermediate = config.intermediate_size;
  const Count query_width = config.num_heads * config.head_dim, key_width = config.num_kv_heads * config.head_dim;
  // A norm multiplies by 1 + w. Branches leave their post norm with a size of 1 / sqrt(2 layers), so that the residual
  // stream stays O(1) however deep the model is.
  const double branch_centre = 1 / std::sqrt(2.0 * static_cast<double>(config.num_layers)) - 1;
  list.add(name + "input_layernorm.weight", id, weights.input_norm, hidden, 0);
  list.add(name + "self_attn.q_proj.weight", id + 1, weights.q_proj, query_width, hidden);
  list.add(name + "self_attn.k_proj.weight", id + 2, weights.k_proj, key_width, hidden);
  list.add(name + "self_attn.v_proj.weight", id + 3, weights.v_proj, key_width, hidden);
  list.add(name + "self_attn.o_proj.weight", id + 4, weights.o_proj, hidden, query_width);
  list.add(name + "post_attention_layernorm.weight", id + 5, weights.post_attention_norm, hidden, branch_centre);
  if (intermediate == 0) return;
  list.add(name + "pre_feedforward_layernorm.weight", id + 6, weights.pre_mlp_norm, hidden, 0);
  list.add(name + "mlp.gate_proj.weight", id + 7, weights.gate_proj, intermediate, hidden);
  list.add(name + "mlp.up_proj.weight", id + 8, weights.up_proj, intermediate, hidden);
  list.add(name + "mlp.down_proj.weight", id + 9, weights.down_proj, hidden, intermediate);
  list.add(name + "post_feedforward_layernorm.weight", id + 10, weights.post_mlp_norm, hidden, branch_centre);
}

void check_memory(const ModelConfig& config) {
  constexpr double gibibyte = 1 << 30;
  const std::int64_t wanted = weight_bytes(config), available = available_memory_bytes();
  if (available == 0 || wanted <= available) return;
  throw policies::OptionError(fmt::format(
      "model {} asks for {:.1f} GiB of weights, this machine has {:.1f} GiB available (fewer layers: num_layers=N)",
      config.name, static_cast<double>(wanted) / gibibyte, static_cast<double>(available) / gibibyte));
}

}  // namespace

std::vector<WeightSlot> weight_slots(const ModelConfig& config, Weights& weights) {
  std::vector<WeightSlot> slots;
  SlotList list(slots);
  weights.layers.resize(static_cast<std::size_t>(config.num_layers));
  if (has_embedding(config)) {
    list.add("embed_tokens.weight", embedding_id, weights.embedding, config.vocab_size, config.hidden_size);
  }
  for (Count layer = 0; layer < config.num_layers; ++layer) {
    add_layer(config, layer, weights.layers[static_cast<std::size_t>(layer)], list);
  }
  list.add("norm.weight", final_norm_id, weights.final_norm, config.hidden_size, 0);
  return slots;
}

std::int64_t weight_bytes(const ModelConfig& config) {
  const bool extra_table = has_embedding(config) && !config.has_head;
  const Count table = extra_table ? config.vocab_size * config.hidden_size : 0;
  return (config.num_parameters() + table) * static_cast<Count>(sizeof(float));
}

Weights make_weights(const ModelConfig& config) {
  check_memory(config);
  Weights weights;
  const std::vector<WeightSlot> slots = weight_slots(config, weights);
  if (!config.checkpoint.empty()) {
    load_checkpoint(config.checkpoint, slots);
  } else {
    for (const WeightSlot& slot : slots) fill_randomly(config.seed, slot);
  }
  return weights;
}

void copy_embedding(const ModelConfig& config, const Weights& weights, Count id, std::span<float> row) {
  Eigen::Map<Eigen::RowVectorXf> out(row.data(), config.hidden_size);
  if (has_embedding(config)) {
    out = weights.embedding.row(id);
    return;
  }
  const auto first = static_cast<std::uint64_t>(id * config.hidden_size);
  for (std::size_t column = 0; column < row.size(); ++column) {
    row[column] = random_value(config.seed, embedding_id, first + column);
  }
  out *= static_cast<float>(projection_spread(config.hidden_size));
}

}  // namespace kvreplay::sim
