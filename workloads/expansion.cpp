#include "workloads/expansion.hpp"

#include "workloads/ledger_walk.hpp"

namespace kvreplay::workloads {

struct Expansion::State {
  State(const Workload& workload, Count max_length) : walk(workload, max_length) {}

  LedgerWalk walk;
  std::vector<TokenId> tokens;  // the list evaluated last
};

Expansion::Expansion(const Workload& workload, Count max_length)
    : state_(std::make_unique<State>(workload, max_length)) {}
Expansion::~Expansion() = default;
Expansion::Expansion(Expansion&&) noexcept = default;

const Step* Expansion::next() {
  State& state = *state_;
  if (!state.walk.next()) return nullptr;
  Step& step = state.walk.step();
  if (step.kind == StepKind::evaluate) {
    state.tokens.resize(static_cast<std::size_t>(step.length));
    const std::span<TokenId> fresh = std::span(state.tokens).subspan(static_cast<std::size_t>(step.common_prefix_last));
    state.walk.ledger_of(step.sequence).fill(state.walk.ids(), step.common_prefix_last, fresh);
    step.tokens = state.tokens;
  }
  return &step;
}

}  // namespace kvreplay::workloads
