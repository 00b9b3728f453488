#include "sim/decoder_stack.hpp"

#include "policies/option_error.hpp"
#include "sim/fault_box.hpp"
#include "sim/flush_subnormals.hpp"
#include "sim/model_keys.hpp"
#include "sim/no_cache.hpp"
#include "sim/plain_kernels.hpp"
#include "sim/stack_math.hpp"
#include "sim/weights.hpp"
#include "sim/work_buffer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>

namespace kvreplay::sim {
namespace {

using policies::FreshRows;
using policies::KvView;
using policies::TokenId;

// Multiplications below which threads are not worth waking: about a millisecond of one thread. They meet at every step
// of every layer, and where other programs keep the cores busy each meeting can take a slice of the scheduler.
constexpr Count least_parallel_work = 1 << 26;

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

ModelConfig checked(const ModelConfig& config) {
  if (const auto fault = find_fault(config)) {
    throw policies::OptionError(fmt::format("model {}: {}: {}", config.name, fault->keys.front(), fault->problem));
  }
  return config;
}

std::unique_ptr<StackMath> make_math(const ModelConfig& config, KernelChoice kernels) {
  return kernels == KernelChoice::plain ? make_plain_math(config) : make_fast_math(config);
}

}  // namespace

std::string_view name_of(KernelChoice choice) { return choice == KernelChoice::plain ? "plain" : "fast"; }

struct DecoderStack::Impl {
  Impl(const ModelConfig& given, KernelChoice kernels)
      : config(checked(given)), math(make_math(config, kernels)), rope(config.head_dim, config.rope_theta) {}

  Count query_width() const { return config.num_heads * config.head_dim; }
  Count key_width() const { return config.num_kv_heads * config.head_dim; }

  // Runs one piece through all layers; `hidden` then holds the last layer's output.
  void run_piece(std::span<const TokenId> tokens, Count first_position, policies::CachePolicy& cache,
                 const HiddenObserver& observer);
  // Final norm of `count` rows from `first_row` of `hidden`, and logits of rows after it.
  void norm_final(Count first_row, Count count, float* out);
  void logits(const float* rows, Count count, float* out);

  // The rest is called by every thread of a team. The first one alone meets the cache, observers and the stopwatch.
  void run_layers(std::span<const TokenId> tokens, Count first_position, policies::CachePolicy& cache,
                  const HiddenObserver& observer);
  void embed(std::span<const TokenId> tokens);
  void turn(Count count);
  void attend(Count layer, Count first_position, Count count, policies::CachePolicy& cache);
  void observe(const HiddenObserver& observer, Count index, Count first_position, std::span<const float> rows);
  void lap(std::int64_t& part_ns) {
#pragma omp master
    watch.lap(part_ns);
  }

  ModelConfig config;
  std::unique_ptr<StackMath> math;
  Rope rope;
  StackTimes times;
  Stopwatch watch;
  FaultBox faults;
  // The workspace; a piece that is no longer than one before allocates nothing.
  WorkBuffer hidden, normed;      // [count][hidden_size]
  WorkBuffer queries, attended;   // [count][num_heads][head_dim]
  WorkBuffer keys, values;        // [count][num_kv_heads][head_dim]
  WorkBuffer final_rows, answer;  // [num_logits][hidden_size], [num_logits][vocab_size]
};

void DecoderStack::Impl::embed(std::span<const TokenId> tokens) {
  const auto count = static_cast<Count>(tokens.size());
  const auto scale = static_cast<float>(std::sqrt(static_cast<double>(config.hidden_size)));
#pragma omp for schedule(static)
  for (Count index = 0; index < count; ++index) {
    float* const row = hidden.data() + index * config.hidden_size;
    const Count id = static_cast<Count>(tokens[static_cast<std::size_t>(index)]) % config.vocab_size;
    if (has_embedding(config)) {
      math->embedding(id, row);
    } else {
      random_embedding(config, id, {row, static_cast<std::size_t>(config.hidden_size)});
    }
    for (Count k = 0; k < config.hidden_size; ++k) row[k] *= scale;
  }
}

void DecoderStack::Impl::turn(Count count) {
#pragma omp for schedule(static)
  for (Count row = 0; row < count; ++row) {
    const std::span<float> key(keys.data() + row * key_width(), static_cast<std::size_t>(key_width()));
    rope.turn({queries.data() + row * query_width(), static_cast<std::size_t>(query_width())}, config.num_heads, row);
    rope.turn(key, config.num_kv_heads, row);
    if (config.cache_dtype != policies::ElementType::bf16) continue;
    round_through_bf16(key);
    round_through_bf16({values.data() + row * key_width(), key.size()});
  }
}

void DecoderStack::Impl::attend(Count layer, Count first_position, Count count, policies::CachePolicy& cache) {
  const FreshRows fresh{first_position, count, keys.data(), values.data()};
  const Count window = config.slides[static_cast<std::size_t>(layer)] ? config.sliding_window : 0;
  const std::size_t size = static_cast<std::size_t>(count * query_width());
#pragma omp master
  faults.run([&] {
    const KvView view = cache.rows(layer, fresh);
    watch.lap(times.store_ns);
    math->attention().prepare({{queries.data(), size}, first_position, count, window}, view);
  });
#pragma omp barrier
  if (!faults.is_empty()) return;
  math->attention().run({attended.data(), size});
  lap(times.attention_ns);
#pragma omp master
  faults.run([&] { cache.store(layer, fresh); });
  lap(times.store_ns);
#pragma omp barrier
}

void DecoderStack::Impl::observe(const HiddenObserver& observer, Count index, Count first_position,
                                 std::span<const float> rows) {
  if (!observer) return;
#pragma omp master
  {
    const Count count = static_cast<Count>(rows.size()) / config.hidden_size;
    faults.run([&] { observer(index, first_position, count, rows); });
    watch = Stopwatch();  // an observer's time is nobody's
  }
#pragma omp barrier
}

void DecoderStack::Impl::run_layers(std::span<const TokenId> tokens, Count first_position, policies::CachePolicy& cache,
                                    const HiddenObserver& observer) {
  const FlushSubnormals flush;
  const auto count = static_cast<Count>(tokens.size());
  const std::size_t size = static_cast<std::size_t>(count * config.hidden_size);
  embed(tokens);
  lap(times.head_ns);
  for (Count index = 0; index < config.num_layers; ++index) {
    observe(observer, index, first_position, {hidden.data(), size});
    if (!faults.is_empty()) return;
    math->project(index, hidden.data(), count, {queries.data(), keys.data(), values.data()});
    turn(count);
    lap(times.projections_ns);
    attend(index, first_position, count, cache);
    if (!faults.is_empty()) return;
    math->add_attention(index, attended.data(), count, hidden.data());
    lap(times.projections_ns);
    if (config.intermediate_size > 0) math->add_mlp(index, count, hidden.data());
    lap(times.mlp_ns);
  }
  if (!observer) return;
  math->final_norm(hidden.data(), count, normed.data());
  observe(observer, config.num_layers, first_position, {normed.data(), size});
}

void DecoderStack::Impl::run_piece(std::span<const TokenId> tokens, Count first_position, policies::CachePolicy& cache,
                                   const HiddenObserver& observer) {
  const auto count = static_cast<Count>(tokens.size());
  watch = Stopwatch();
  hidden.grow(count * config.hidden_size);
  normed.grow(observer ? count * config.hidden_size : 0);
  queries.grow(count * query_width());
  attended.grow(count * query_width());
  keys.grow(count * key_width());
  values.grow(count * key_width());
  math->prepare(count, 1);
  rope.prepare(first_position, count);
  const Count work = config.num_parameters() * count;
#pragma omp parallel if (work > least_parallel_work)
  run_layers(tokens, first_position, cache, observer);
  faults.rethrow();
}

void DecoderStack::Impl::norm_final(Count first_row, Count count, float* out) {
  math->final_norm(hidden.data() + first_row * config.hidden_size, count, out);
}

void DecoderStack::Impl::logits(const float* rows, Count count, float* out) {
  if (!config.has_head) {
    std::copy_n(rows, count * config.hidden_size, out);
    return;
  }
  math->prepare(1, count);
#pragma omp parallel if (count * config.vocab_size * config.hidden_size > least_parallel_work)
  {
    const FlushSubnormals flush;
    math->logits(rows, count, out);
  }
}

DecoderStack::DecoderStack(const ModelConfig& config, KernelChoice kernels)
    : impl_(std::make_unique<Impl>(config, kernels)) {}
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
  stack.final_rows.grow(num_logits * hidden_size);
  float* const final_rows = stack.final_rows.data();
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
  stack.answer.grow(num_logits * logits_size());
  const std::span<float> answer(stack.answer.data(), static_cast<std::size_t>(num_logits * logits_size()));
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

std::int64_t DecoderStack::workspace_bytes() const {
  std::int64_t bytes = impl_->math->scratch_bytes();
  for (const WorkBuffer* buffer : {&impl_->hidden, &impl_->normed, &impl_->queries, &impl_->attended, &impl_->keys,
                                   &impl_->values, &impl_->final_rows, &impl_->answer}) {
    bytes += buffer->bytes();
  }
  return bytes;
}

std::string DecoderStack::kernels() const { return impl_->math->name(); }

}  // namespace kvreplay::sim
