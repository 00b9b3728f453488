#include "sim/weights.hpp"

#include "policies/option_error.hpp"
#include "sim/available_memory.hpp"
#include "sim/plain_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace kvreplay::sim {
namespace {

constexpr std::uint64_t embedding_id = 0, final_norm_id = 1, first_layer_id = 16, ids_per_layer = 16;
constexpr double norm_spread = 0.1;

// Half the width of a uniform distribution of standard deviation 1 / sqrt(fan_in): products of unit rows stay unit.
double projection_spread(Count fan_in) { return std::numbers::sqrt3 / std::sqrt(static_cast<double>(fan_in)); }

WeightSlot matrix(std::string name, WeightPart part, Count layer, std::uint64_t id, Count rows, Count columns) {
  return {std::move(name), part, layer, id, rows, columns, 0, projection_spread(columns)};
}

WeightSlot norm(std::string name, WeightPart part, Count layer, std::uint64_t id, Count size, double centre) {
  return {std::move(name), part, layer, id, 1, size, centre, norm_spread * (1 + centre)};
}

void add_layer(const ModelConfig& config, Count layer, std::vector<WeightSlot>& slots) {
  const std::string name = fmt::format("layers.{}.", layer);
  const std::uint64_t id = first_layer_id + static_cast<std::uint64_t>(layer) * ids_per_layer;
  const Count hidden = config.hidden_size, intermediate = config.intermediate_size;
  const Count query_width = config.num_heads * config.head_dim, key_width = config.num_kv_heads * config.head_dim;
  // A norm multiplies by 1 + w. Branches leave their post norm with a size of 1 / sqrt(2 layers), so that the residual
  // stream stays O(1) however deep the model is.
  const double branch_centre = 1 / std::sqrt(2.0 * static_cast<double>(config.num_layers)) - 1;
  const auto add_matrix = [&](const char* suffix, WeightPart part, std::uint64_t offset, Count rows, Count columns) {
    slots.push_back(matrix(name + suffix, part, layer, id + offset, rows, columns));
  };
  const auto add_norm = [&](const char* suffix, WeightPart part, std::uint64_t offset, double centre) {
    slots.push_back(norm(name + suffix, part, layer, id + offset, hidden, centre));
  };
  add_norm("input_layernorm.weight", WeightPart::input_norm, 0, 0);
  add_matrix("self_attn.q_proj.weight", WeightPart::q_proj, 1, query_width, hidden);
  add_matrix("self_attn.k_proj.weight", WeightPart::k_proj, 2, key_width, hidden);
  add_matrix("self_attn.v_proj.weight", WeightPart::v_proj, 3, key_width, hidden);
  add_matrix("self_attn.o_proj.weight", WeightPart::o_proj, 4, hidden, query_width);
  add_norm("post_attention_layernorm.weight", WeightPart::post_attention_norm, 5, branch_centre);
  if (intermediate == 0) return;
  add_norm("pre_feedforward_layernorm.weight", WeightPart::pre_mlp_norm, 6, 0);
  add_matrix("mlp.gate_proj.weight", WeightPart::gate_proj, 7, intermediate, hidden);
  add_matrix("mlp.up_proj.weight", WeightPart::up_proj, 8, intermediate, hidden);
  add_matrix("mlp.down_proj.weight", WeightPart::down_proj, 9, hidden, intermediate);
  add_norm("post_feedforward_layernorm.weight", WeightPart::post_mlp_norm, 10, branch_centre);
}

void check_memory(const ModelConfig& config) {
  constexpr double gibibyte = 1 << 30;
  const std::int64_t wanted = weight_bytes(config), available = available_memory_bytes();
  if (available == 0 || wanted <= available) return;
  const bool could_be_smaller = config.weight_dtype == policies::ElementType::fp32;
  throw policies::OptionError(fmt::format(
      "model {} asks for {:.1f} GiB of weights, this machine has {:.1f} GiB available ({}fewer layers: num_layers=N)",
      config.name, static_cast<double>(wanted) / gibibyte, static_cast<double>(available) / gibibyte,
      could_be_smaller ? "half of it: --dtype bf16; " : ""));
}

}  // namespace

bool has_embedding(const ModelConfig& config) { return config.has_head || !config.checkpoint.empty(); }

std::vector<WeightSlot> weight_slots(const ModelConfig& config) {
  std::vector<WeightSlot> slots;
  if (has_embedding(config)) {
    slots.push_back(
        matrix("embed_tokens.weight", WeightPart::embedding, -1, embedding_id, config.vocab_size, config.hidden_size));
  }
  for (Count layer = 0; layer < config.num_layers; ++layer) add_layer(config, layer, slots);
  slots.push_back(norm("norm.weight", WeightPart::final_norm, -1, final_norm_id, config.hidden_size, 0));
  return slots;
}

std::int64_t weight_bytes(const ModelConfig& config) {
  std::int64_t bytes = 0;
  for (const WeightSlot& slot : weight_slots(config)) {
    const policies::ElementType type = slot.is_norm() ? policies::ElementType::fp32 : config.weight_dtype;
    bytes += slot.rows * slot.columns * policies::element_bytes(type);
  }
  return bytes;
}

void read_weights(const ModelConfig& config, const std::function<RowSink(const WeightSlot&)>& place) {
  check_memory(config);
  const std::vector<WeightSlot> slots = weight_slots(config);
  const bool as_bf16 = config.weight_dtype == policies::ElementType::bf16;
  if (!config.checkpoint.empty()) {
    read_checkpoint(config.checkpoint, slots, as_bf16, place);
    return;
  }
  for (const WeightSlot& slot : slots) {
    const RowSink sink = place(slot);
    for_row_groups(slot, as_bf16, sink, [&](Count first_row, Count count, float* rows) {
      random_rows(config.seed, slot, first_row, count, rows);
    });
  }
}

void for_row_groups(const WeightSlot& slot, bool as_bf16, const RowSink& sink, const RowSource& source) {
  const Count num_groups = (slot.rows + rows_at_once - 1) / rows_at_once;
  const bool rounds = as_bf16 && !slot.is_norm();
#pragma omp parallel if (slot.rows * slot.columns > (1 << 16))
  {
    FloatBuffer rows(static_cast<std::size_t>(std::min(rows_at_once, slot.rows) * slot.columns));
#pragma omp for schedule(static)
    for (Count group = 0; group < num_groups; ++group) {
      const Count first_row = group * rows_at_once, count = std::min(rows_at_once, slot.rows - first_row);
      source(first_row, count, rows.data());
      if (rounds) round_through_bf16({rows.data(), static_cast<std::size_t>(count * slot.columns)});
      sink(first_row, count, rows.data());
    }
  }
}

void random_embedding(const ModelConfig& config, Count id, std::span<float> row) {
  const WeightSlot slot = matrix({}, WeightPart::embedding, -1, embedding_id, config.vocab_size, config.hidden_size);
  random_rows(config.seed, slot, id, 1, row.data());
  if (config.weight_dtype == policies::ElementType::bf16) round_through_bf16(row);
}

}  // namespace kvreplay::sim
