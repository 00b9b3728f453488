#include "sim/outcomes.hpp"

#include <fmt/format.h>

namespace kvreplay::sim {
namespace {

reports::Outcome outcome(std::string kind, std::string message) {
  reports::Outcome outcome;
  outcome.kind = std::move(kind);
  outcome.message = std::move(message);
  return outcome;
}

reports::Outcome outcome(std::string kind, std::string message, Count wanted, Count available) {
  reports::Outcome result = outcome(std::move(kind), std::move(message));
  result.wanted = wanted;
  result.available = available;
  return result;
}

}  // namespace

reports::Outcome unserved_outcome(Count length, const policies::Admission& admission) {
  if (admission.action == policies::Action::refused) {
    return outcome("rewind_refused",
                   fmt::format("a list of {} tokens that keeps {} of the {} held: this cache cannot go back", length,
                               admission.kept, admission.held_before),
                   admission.kept, admission.held_before);
  }
  return outcome("capacity_exceeded",
                 fmt::format("a list of {} tokens is longer than the {} this cache takes", length, admission.limit),
                 length, admission.limit);
}

reports::Outcome memory_limit_outcome(const policies::MemoryLimitExceeded& error) {
  return outcome("out_of_memory", error.what(), error.wanted_bytes, error.limit_bytes);
}

reports::Outcome no_memory_outcome() {
  return outcome("out_of_memory", "the system has no memory for this evaluation");
}

reports::Outcome interrupted_outcome() { return outcome("interrupted", "stopped by the user"); }

reports::Outcome limit_outcome(const workloads::Step& step, const ModelConfig& model) {
  return outcome(
      "limit_reached",
      fmt::format("a ledger of {} tokens is over the model's {} positions", step.length, model.max_positions),
      step.length, model.max_positions);
}

void throw_over_limit(const workloads::Workload& workload, const workloads::Step& step, const ModelConfig& model) {
  throw workloads::InputError(
      workload.path, step.mark, fmt::format("events[{}]", step.event_index),
      fmt::format("makes a ledger of {} tokens, but the model has {} positions (--max-positions N allows more, "
                  "--at-limit stop ends the run there)",
                  step.length, model.max_positions));
}

}  // namespace kvreplay::sim
