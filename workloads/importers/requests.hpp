// Independent requests on a server: prompts, answers, and how many are under way at the same time.
#pragma once

#include "workloads/importers/workload_draft.hpp"

#include <deque>
#include <optional>
#include <string>

namespace kvreplay::workloads::importers {

// One slot (the default) serves requests one after the other: new, append, decode, end. With more, a new request waits
// until a slot is free; those under way take turns, one token each, as in continuous batching, but in one cache. A
// prompt is evaluated at its request's first turn. An answer of 0 tokens is one evaluation of the prompt.
class Requests {
 public:
  // Answers are tokens of the stream "gen", one index a request.
  Requests(WorkloadDraft& draft, Count slots);

  // `prompt` has at least one token.
  void add(std::optional<double> at_ms, const Tokens& prompt, Count answer_tokens);
  // Serves those still under way. Requests must be ended by it.
  void finish();

 private:
  struct Running {
    std::uint64_t index = 0;
    Count answered = 0, answer = 0;
  };
  void take_turns();
  void serve(Running& request, Count tokens);

  WorkloadDraft& draft_;
  Count slots_;
  std::deque<Running> running_;
  std::uint64_t num_requests_ = 0;
  std::optional<std::uint64_t> current_;
};

}  // namespace kvreplay::workloads::importers
