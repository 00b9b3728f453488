#include "sim/decoder_stack.hpp"

#include "policies/option_error.hpp"
#include "sim/model_keys.hpp"
#include "sim/plain_attention.hpp"
#include "sim/plain_kernels.hpp"
#include "sim/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>

namespace kvreplay::sim {
namespace {

using policies::FreshRows;
using policies::KvRun;
using policies::KvView;
using policies::TokenId;

// Rows that go through the MLP together; bounds its scratch memory in long pieces.
constexpr Count mlp_rows = 512;

// Adds the time since the last call to a part.
class Stopwatch {
 public:
  void lap(std::int64_t& part_ns) {
    const auto now = std::chrono::steady_clock::now();
    part_ns += std::chrono::duration_cast<std::chrono::nanoseconds>(now - last_).count();
    last_ = now;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Keeps nothing: a piece sees its own rows and no others.
class NoCache final : public policies::CachePolicy {
 public:
  explicit NoCache(const policies::CacheGeometry& geometry) : geometry_(geometry) {}

  KvView rows(Count /*layer*/, const FreshRows& fresh) override {
    run_ = {fresh.first_position,
            fresh.count,
            fresh.keys,
            fresh.values,
            geometry_.num_kv_heads * geometry_.head_dim,
            geometry_.head_dim,
            policies::ElementType::fp32};
    return {std::span(&run_, 1), {}};
  }
  void store(Count /*layer*/, const FreshRows& /*fresh*/) override {}
  void finish() override {}
  policies::Admission admit(const policies::Request& /*request*/) override { fail(); }
  const policies::MemoryLedger& ledger() const override { fail(); }

 private:
  [[noreturn]] static void fail() { throw std::logic_error("a cold pass has no cache to ask"); }

  policies::CacheGeometry geometry_;
  KvRun run_;
};

ModelConfig checked(const ModelConfig& config) {
  if (const auto fault = find_fault(config)) {
    throw policies::OptionError(fmt::format("model {}: {}: {}", config.name, fault->keys.front(), fault->problem));
  }
  return config;
}

std::span<float> resized(FloatBuffer& buffer, Count size) {
  buffer.resize(static_cast<std::size_t>(size));
  return buffer;
}

}  // namespace

struct DecoderStack::Impl {
  explicit Impl(const ModelConfig& given)
      : config(checked(given)),
        weights(make_weights(config)),
        rope(config.head_dim, config.rope_theta),
        attention(attention_shape(config)) {}

  // Runs one piece through all layers; `hidden` then holds the last layer's output.
  void run_piece(std::span<const TokenId> tokens, Count first_position, policies::CachePolicy& cache,
                 const HiddenObserver& observer);
  void embed(std::span<const TokenId> tokens);
  void project(const LayerWeights& layer, Count count);
  void attend(Count layer, Count first_position, Count count, policies::CachePolicy& cache);
  void add_attention(const LayerWeights& layer, Count count);
  void add_mlp(const LayerWeights& layer, Count count);
  // Final norm of `count` rows from `first_row` of `hidden`.
  void norm_final(Count first_row, Count count, float* out);
  void logits(const float* final_rows, Count count, float* out);

  MatrixMap map(FloatBuffer& buffer, Count rows, Count columns) {
    return {resized(buffer, rows * columns).data(), rows, columns};
  }

  ModelConfig config;
  Weights weights;
  Rope rope;
  PlainAttention attention;
  StackTimes times;
  Stopwatch watch;
  // The workspace; a piece that is no longer than one before allocates nothing.
  FloatBuffer hidden, normed, branch;  // [count][hidden_size]
  FloatBuffer queries, attended;       // [count][num_heads][head_dim]
  FloatBuffer keys, values;            // [count][num_kv_heads][head_dim]
  FloatBuffer gate, up;                // [<= mlp_rows][intermediate_size]
  FloatBuffer final_rows, answer;      // [num_logits][hidden_size], [num_logits][vocab_size]
};

void DecoderStack::Impl::embed(std::span<const TokenId> tokens) {
  const auto count = static_cast<Count>(tokens.size());
  const auto size = static_cast<std::size_t>(config.hidden_size);
  MatrixMap rows = map(hidden, count, config.hidden_size);
  for (Count row = 0; row < count; ++row) {
    const Count id = static_cast<Count>(tokens[static_cast<std::size_t>(row)]) % config.vocab_size;
    copy_embedding(config, weights, id, {rows.row(row).data(), size});
  }
  rows *= static_cast<float>(std::sqrt(static_cast<double>(config.hidden_size)));
}

void DecoderStack::Impl::project(const LayerWeights& layer, Count count) {
  const Count hidden_size = config.hidden_size, key_width = config.num_kv_heads * config.head_dim;
  MatrixMap norm = map(normed, count, hidden_size);
  rms_norm({hidden.data(), count, hidden_size}, layer.input_norm, config.rms_norm_eps, norm);
  const ConstMatrixMap input(normed.data(), count, hidden_size);
  multiply(input, layer.q_proj, map(queries, count, config.num_heads * config.head_dim));
  multiply(input, layer.k_proj, map(keys, count, key_width));
  multiply(input, layer.v_proj, map(values, count, key_width));
  rope.turn(queries, config.num_heads);
  rope.turn(keys, config.num_kv_heads);
  if (config.cache_dtype == policies::ElementType::bf16) {
    round_through_bf16(keys);
    round_through_bf16(values);
  }
}

void DecoderStack::Impl::attend(Count layer, Count first_position, Count count, policies::CachePolicy& cache) {
  const FreshRows fresh{first_position, count, keys.data(), values.data()};
  const KvView view = cache.rows(layer, fresh);
  watch.lap(times.store_ns);
  const Count window = config.slides[static_cast<std::size_t>(layer)] ? config.sliding_window : 0;
  resized(attended, count * config.num_heads * config.head_dim);
  attention.attend({queries, first_position, count, window}, view, attended);
  watch.lap(times.attention_ns);
  cache.store(layer, fresh);
  watch.lap(times.store_ns);
}

void DecoderStack::Impl::add_attention(const LayerWeights& layer, Count count) {
  MatrixMap output = map(branch, count, config.hidden_size);
  multiply({attended.data(), count, config.num_heads * config.head_dim}, layer.o_proj, output);
  rms_norm({branch.data(), count, config.hidden_size}, layer.post_attention_norm, config.rms_norm_eps, output);
  MatrixMap(hidden.data(), count, config.hidden_size) += output;
}

void DecoderStack::Impl::add_mlp(const LayerWeights& layer, Count count) {
  const Count hidden_size = config.hidden_size, inner = config.intermediate_size;
  for (Count begin = 0; begin < count; begin += mlp_rows) {
    const Count rows = std::min(mlp_rows, count - begin);
    MatrixMap residual(hidden.data() + begin * hidden_size, rows, hidden_size);
    MatrixMap norm = map(normed, rows, hidden_size), output = map(branch, rows, hidden_size);
    MatrixMap gated = map(gate, rows, inner), raised = map(up, rows, inner);
    rms_norm({residual.data(), rows, hidden_size}, layer.pre_mlp_norm, config.rms_norm_eps, norm);
    multiply({normed.data(), rows, hidden_size}, layer.gate_proj, gated);
    multiply({normed.data(), rows, hidden_size}, layer.up_proj, raised);
    gelu_tanh_times({gate.data(), gated.size()}, {up.data(), raised.size()});
    multiply({gate.data(), rows, inner}, layer.down_proj, output);
    rms_norm({branch.data(), rows, hidden_size}, layer.post_mlp_norm, config.rms_norm_eps, output);
    residual += output;
  }
}

void DecoderStack::Impl::run_piece(std::span<const TokenId> tokens, Count first_position, policies::CachePolicy& cache,
                                   const HiddenObserver& observer) {
  const auto count = static_cast<Count>(tokens.size());
  watch = Stopwatch();
  embed(tokens);
  watch.lap(times.head_ns);
  rope.prepare(first_position, count);
  for (Count index = 0; index < config.num_layers; ++index) {
    if (observer) observer(index, first_position, count, hidden);
    if (observer) watch = Stopwatch();  // an observer's time is nobody's
    const LayerWeights& layer = weights.layers[static_cast<std::size_t>(index)];
    project(layer, count);
    watch.lap(times.projections_ns);
    attend(index, first_position, count, cache);
    add_attention(layer, count);
    watch.lap(times.projections_ns);
    if (config.intermediate_size > 0) add_mlp(layer, count);
    watch.lap(times.mlp_ns);
  }
  if (!observer) return;
  norm_final(0, count, resized(normed, count * config.hidden_size).data());
  observer(config.num_layers, first_position, count, normed);
  watch = Stopwatch();
}

void DecoderStack::Impl::norm_final(Count first_row, Count count, float* out) {
  rms_norm({hidden.data() + first_row * config.hidden_size, count, config.hidden_size}, weights.final_norm,
           config.rms_norm_eps, {out, count, config.hidden_size});
}

void DecoderStack::Impl::logits(const float* rows, Count count, float* out) {
  if (!config.has_head) {
    std::copy_n(rows, count * config.hidden_size, out);
    return;
  }
  multiply({rows, count, config.hidden_size}, weights.embedding, {out, count, config.vocab_size});
  softcap({out, count * config.vocab_size}, config.final_softcap);
}

DecoderStack::DecoderStack(const ModelConfig& config) : impl_(std::make_unique<Impl>(config)) {}
DecoderStack::~DecoderStack() = default;
DecoderStack::DecoderStack(DecoderStack&&) noexcept = default;

const ModelConfig& DecoderStack::config() const { return impl_->config; }

std::span<const float> DecoderStack::evaluate(std::span<const TokenId> tokens, Count first_position, Count piece_tokens,
                                              Count num_logits, policies::CachePolicy& cache,
                                              const HiddenObserver& observer) {
  const auto total = static_cast<Count>(tokens.size());
  if (total == 0 || num_logits < 1 || num_logits > total || first_position < 0 || piece_tokens < 0) {
    throw std::logic_error("an evaluation needs tokens, and no more rows of logits than tokens");
  }
  Impl& stack = *impl_;
  const Count hidden_size = stack.config.hidden_size, first_wanted = total - num_logits;
  float* const final_rows = resized(stack.final_rows, num_logits * hidden_size).data();
  const Count step = piece_tokens == 0 ? total : piece_tokens;
  for (Count begin = 0; begin < total; begin += step) {
    const Count count = std::min(step, total - begin);
    stack.run_piece(tokens.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count)),
                    first_position + begin, cache, observer);
    const Count first_row = std::max<Count>(0, first_wanted - begin);
    if (first_row >= count) continue;
    stack.norm_final(first_row, count - first_row, final_rows + (begin + first_row - first_wanted) * hidden_size);
    stack.watch.lap(stack.times.head_ns);
  }
  const std::span<float> answer = resized(stack.answer, num_logits * logits_size());
  stack.logits(final_rows, num_logits, answer.data());
  stack.watch.lap(stack.times.head_ns);
  return answer;
}

void DecoderStack::evaluate_cold(std::span<const TokenId> tokens, const HiddenObserver& observer) {
  if (tokens.empty()) throw std::logic_error("a cold pass needs tokens");
  NoCache cache(impl_->config.geometry());
  impl_->run_piece(tokens, 0, cache, observer);
}

void DecoderStack::logits_of(std::span<const float> final_rows, Count count, std::span<float> logits) {
  const auto rows = static_cast<std::size_t>(count);
  const auto hidden_size = static_cast<std::size_t>(impl_->config.hidden_size);
  if (final_rows.size() != rows * hidden_size || logits.size() != rows * static_cast<std::size_t>(logits_size())) {
    throw std::logic_error("rows and logits do not have the size their count says");
  }
  impl_->logits(final_rows.data(), count, logits.data());
}

Count DecoderStack::logits_size() const {
  return impl_->config.has_head ? impl_->config.vocab_size : impl_->config.hidden_size;
}

const StackTimes& DecoderStack::times() const { return impl_->times; }
void DecoderStack::reset_times() { impl_->times = {}; }
std::int64_t DecoderStack::weight_bytes() const { return sim::weight_bytes(impl_->config); }

}  // namespace kvreplay::sim
