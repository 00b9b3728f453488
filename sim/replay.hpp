// Replays one workload through one cache policy and counts, times and observes what happens.
//
// One code path for three depths: `plan` moves no bytes, `alloc` moves the cache's bytes, `compute` runs the stack.
// Counters are identical at all depths.
#pragma once

#include "policies/registry.hpp"
#include "reports/result.hpp"
#include "sim/decoder_stack.hpp"
#include "sim/model_config.hpp"
#include "sim/replay_counters.hpp"
#include "workloads/expansion.hpp"

#include <atomic>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace kvreplay::sim {

enum class Depth : std::uint8_t { plan, alloc, compute };
std::string_view name_of(Depth depth);

// One served evaluation at compute depth: the rows of logits it wanted.
struct Answer {
  Count ordinal = 0;
  const workloads::Step* step = nullptr;
  const policies::Admission* admission = nullptr;
  // The wanted rows end the list. The stored one (the caller's answer of an earlier evaluation) comes first, then
  // those just computed; each row is DecoderStack::logits_size() long. One of the two may be empty.
  std::span<const float> stored_row;
  std::span<const float> computed_rows;
};

// Sees a replay as it goes; every method may be left alone. Called from the replay's thread.
class ReplayListener {
 public:
  virtual ~ReplayListener() = default;
  // One row per admission, unserved ones included. Taken only when a listener wants it: it costs more than planning.
  virtual void sample(const reports::Sample& sample) { (void)sample; }
  // Compute depth, before the rows of an evaluation that feeds tokens pass through the stack.
  virtual void begin(Count ordinal, const workloads::Step& step) { (void)ordinal, (void)step; }
  // Compute depth: the rows every layer produced (see HiddenObserver).
  virtual void hidden(Count index, Count first_position, Count count, std::span<const float> rows) {
    (void)index, (void)first_position, (void)count, (void)rows;
  }
  virtual void answer(const Answer& answer) { (void)answer; }
  virtual bool wants_samples() const { return false; }
  virtual bool wants_hidden() const { return false; }
};

struct ReplaySettings {
  Depth depth = Depth::plan;
  Count memory_limit_bytes = 0;     // 0: none
  bool stop_at_limit = false;       // a ledger over the maximum positions ends the run instead of being an error
  bool truncate_at_events = false;  // call the policy's truncate when the ledger is cut, not at the next evaluation
  policies::PageChoice pages = policies::PageChoice::huge;  // of large cache buffers
  Count prefill_chunk = 0;                                  // most tokens of one pass through the layers; 0: no limit
  bool poison_unused = false;                               // tests
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(Count evaluations_done)> progress = {};  // called now and then
};

// Nanoseconds; empty at plan depth.
struct ReplayTimes {
  std::vector<Count> evaluation_ns;  // one per served evaluation
  std::vector<Count> fed;            // tokens each of them evaluated
  Count admit_ns = 0;                // admit() and finish()
  StackTimes stack;
};

struct ReplayRecord {
  reports::Outcome outcome;
  reports::Counters counters;
  ReplayTimes times;
};

// `stack` is used at compute depth only and must have been made from `model`; `facts` are the workload's, with floors.
// Throws InputError when a ledger is longer than the model's maximum positions (unless stop_at_limit).
ReplayRecord replay(const workloads::Workload& workload, const workloads::Facts& facts, const ModelConfig& model,
                    const policies::PolicySpec& policy, DecoderStack* stack, const ReplaySettings& settings,
                    std::span<ReplayListener* const> listeners = {});

}  // namespace kvreplay::sim
