#include "sim/verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kvreplay::sim {

Verifier::Verifier(Reference& reference, DecoderStack& stack, double tolerance, std::vector<Count> only)
    : reference_(reference), stack_(stack), only_(std::move(only)) {
  const bool fp32 = stack.config().cache_dtype == policies::ElementType::fp32;
  result_.tolerance = tolerance > 0 ? tolerance : fp32 ? tolerance_fp32 : tolerance_bf16;
  std::sort(only_.begin(), only_.end());
}

void Verifier::begin(Count ordinal, const workloads::Step& step) {
  active_ = only_.empty() || std::binary_search(only_.begin(), only_.end(), ordinal);
  if (!active_) return;
  ordinal_ = ordinal;
  line_ = step.mark.line;
  differs_ = false;
  max_difference_ = 0;
  cold_ = &reference_.outputs_for(step.tokens);
}

void Verifier::hidden(Count index, Count first_position, Count count, std::span<const float> rows) {
  if (!active_) return;
  const auto row_size = static_cast<std::size_t>(stack_.config().hidden_size);
  compare(rows.first(static_cast<std::size_t>(count) * row_size),
          cold_->hidden[static_cast<std::size_t>(index)].data() + static_cast<std::size_t>(first_position) * row_size,
          row_size, first_position, index == 0 ? "embedding" : "layer", index - 1);
}

void Verifier::answer(const Answer& answer) {
  if (!active_) return;
  const auto length = static_cast<Count>(answer.step->tokens.size());
  compare_logits(answer.stored_row, length - answer.step->num_logits);
  const auto computed = static_cast<Count>(answer.computed_rows.size()) / stack_.logits_size();
  compare_logits(answer.computed_rows, length - computed);

  ++result_.evaluations_compared;
  const bool claimed_exact = answer.admission->exact;
  if (!claimed_exact) ++result_.claimed_inexact;
  if (claimed_exact) result_.max_difference_exact = std::max(result_.max_difference_exact, max_difference_);
  if (differs_) {
    ++result_.evaluations_differing;
    result_.differing.push_back(ordinal_);
    if (!result_.first_difference) result_.first_difference = failure_;
  }
  if (differs_ && claimed_exact) result_.unexpected_differences.push_back(ordinal_);
  if (!differs_ && !claimed_exact) result_.unexpected_equalities.push_back(ordinal_);
}

// `rows` are rows of logits, the first of them answering for `first_position`.
void Verifier::compare_logits(std::span<const float> rows, Count first_position) {
  if (rows.empty()) return;
  const auto row_size = static_cast<std::size_t>(stack_.logits_size());
  const auto hidden_size = static_cast<std::size_t>(stack_.config().hidden_size);
  cold_logits_.resize(row_size);
  for (std::size_t row = 0; row * row_size < rows.size(); ++row) {
    const auto position = static_cast<std::size_t>(first_position) + row;
    const std::span<const float> final_row(cold_->hidden.back().data() + position * hidden_size, hidden_size);
    stack_.logits_of(final_row, 1, cold_logits_);
    compare(rows.subspan(row * row_size, row_size), cold_logits_.data(), row_size, static_cast<Count>(position),
            "logits", -1);
  }
}

void Verifier::compare(std::span<const float> ours, const float* reference, std::size_t row_size, Count first_position,
                       std::string_view where, Count layer) {
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double difference = std::abs(static_cast<double>(ours[i]) - static_cast<double>(reference[i]));
    const double allowed = result_.tolerance * (1 + std::abs(static_cast<double>(reference[i])));
    max_difference_ = std::max(max_difference_, difference / (1 + std::abs(static_cast<double>(reference[i]))));
    if (difference <= allowed) continue;  // false for NaN
    if (!differs_) {
      differs_ = true;
      failure_ = {ordinal_, line_, first_position + static_cast<Count>(i / row_size),
                  layer >= 0 ? fmt::format("layer {}", layer) : std::string(where), difference};
    }
  }
}

}  // namespace kvreplay::sim
