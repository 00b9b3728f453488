#include "workloads/importers/requests.hpp"

#include <algorithm>

namespace kvreplay::workloads::importers {
namespace {

std::string name_of(std::uint64_t index) { return "r" + std::to_string(index); }

}  // namespace

Requests::Requests(WorkloadDraft& draft, Count slots) : draft_(draft), slots_(slots) {
  draft.add_stream("gen", 47, true);
  if (slots > 1) draft.explain(std::to_string(slots) + " requests are under way at a time, one token each in turn.");
}

void Requests::add(std::optional<double> at_ms, const Tokens& prompt, Count answer_tokens) {
  while (static_cast<Count>(running_.size()) >= slots_) take_turns();
  const std::uint64_t index = num_requests_++;
  draft_.new_sequence(name_of(index), at_ms);
  draft_.append(prompt);
  current_ = index;
  running_.push_back({index, 0, answer_tokens});
}

void Requests::finish() {
  while (!running_.empty()) take_turns();
}

// Every request under way gets one token; one that is alone gets all it lacks.
void Requests::take_turns() {
  const bool alone = running_.size() == 1;
  for (Running& request : running_) serve(request, alone ? request.answer - request.answered : 1);
  std::erase_if(running_, [](const Running& request) { return request.answered >= request.answer; });
}

void Requests::serve(Running& request, Count tokens) {
  if (current_ != request.index) draft_.switch_to(name_of(request.index));
  current_ = request.index;
  if (request.answer == 0) {
    draft_.eval(false);
  } else {
    draft_.decode(slice("gen", request.index, tokens, request.answered));
    request.answered += tokens;
  }
  if (request.answered < request.answer) return;
  draft_.end(name_of(request.index));
  current_.reset();
}

}  // namespace kvreplay::workloads::importers
