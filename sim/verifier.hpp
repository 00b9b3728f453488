// Compares a replay's outputs, evaluation by evaluation, with a cache-less run.
//
// Compared are the wanted rows of logits and every layer's output of each evaluated token, as they stream by. A
// policy that claims exactness must match; a preset of a faulty engine must differ exactly where it says so.
#pragma once

#include "reports/result.hpp"
#include "sim/reference.hpp"
#include "sim/replay.hpp"

namespace kvreplay::sim {

// |difference| <= tolerance * (1 + |reference|). fp32: batches and single tokens sum in another order; the largest
// difference seen on trained weights is 1e-5 of that measure. bf16: a last bit of a sum can flip the rounding of a
// cached value, one part in 256 of one element.
inline constexpr double tolerance_fp32 = 1e-4;
inline constexpr double tolerance_bf16 = 2e-2;

class Verifier : public ReplayListener {
 public:
  // `tolerance` <= 0: the default of the stack's cache element type. `only` limits the comparison to these ordinals;
  // empty: all evaluations.
  Verifier(Reference& reference, DecoderStack& stack, double tolerance, std::vector<Count> only = {});

  bool wants_hidden() const override { return true; }
  void begin(Count ordinal, const workloads::Step& step) override;
  void hidden(Count index, Count first_position, Count count, std::span<const float> rows) override;
  void answer(const Answer& answer) override;

  const reports::Verification& result() const { return result_; }

 private:
  void compare_logits(std::span<const float> rows, Count first_position);
  void compare(std::span<const float> ours, const float* reference, std::size_t row_size, Count first_position,
               std::string_view where, Count layer);

  Reference& reference_;
  DecoderStack& stack_;
  std::vector<Count> only_;
  reports::Verification result_;

  // The evaluation under way.
  bool active_ = false;
  int line_ = 0;
  Count ordinal_ = 0;
  const ColdOutputs* cold_ = nullptr;
  bool differs_ = false;
  double max_difference_ = 0;
  reports::VerificationFailure failure_;
  std::vector<float> cold_logits_;
};

}  // namespace kvreplay::sim
