// One contract for every row of the policy table and every combination of its options, on random lists.
#include "tests/catch.hpp"
#include "tests/policies/support.hpp"

#include <algorithm>
#include <map>
#include <random>

using namespace kvreplay::policies;
using namespace kvreplay::policies::testing;

namespace {

constexpr Count longest_list = 40;
constexpr Count small_capacity = 24;

// Random lists as engines ask for them: appends, rewinds, forks, switches, repeats, strict prefixes, new beginnings.
class Lists {
 public:
  explicit Lists(unsigned seed) : random_(seed) {}

  struct Asked {
    Tokens tokens;
    SequenceId sequence;
    Count num_logits;
    Count truncated_to = -1;  // the engine cropped at once
  };

  Asked next() {
    Tokens& list = lists_[sequence_];
    Asked asked{{}, sequence_, 1, -1};
    const Count before = static_cast<Count>(list.size());
    switch (list.empty() ? 0 : up_to(9)) {
      case 0:
        list = ids(1 + up_to(12), new_ids());
        break;
      case 1:
        break;  // the same again
      case 2:
        list = prefix(list, 1 + up_to(before - 1));
        break;
      case 3: {  // another sequence, perhaps a copy of this one
        const Tokens parent = list;
        sequence_ = static_cast<SequenceId>(up_to(2));
        if (lists_[sequence_].empty() || up_to(2) == 0) lists_[sequence_] = parent;
        break;
      }
      case 4:
      case 5:
        list = prefix(list, std::max<Count>(0, before - 1 - up_to(std::min<Count>(before, 12))));
        if (up_to(1) == 0) asked.truncated_to = static_cast<Count>(list.size());
        break;
      default:
        break;
    }
    Tokens& current = lists_[sequence_];
    asked.sequence = sequence_;
    const Count room = longest_list - static_cast<Count>(current.size());
    if (current.empty() || up_to(3) > 0)
      current = joined(current, ids(std::min(room, up_to(2) > 0 ? 1 : 1 + up_to(9)), new_ids()));
    if (current.empty()) current = ids(1, new_ids());
    asked.tokens = current;
    asked.num_logits = up_to(3) > 0 ? 1 : 1 + up_to(std::min<Count>(3, static_cast<Count>(current.size()) - 1));
    return asked;
  }

  Count up_to(Count largest) { return static_cast<Count>(random_() % static_cast<unsigned>(largest + 1)); }

 private:
  TokenId new_ids() { return next_id_ += 1000; }

  std::mt19937 random_;
  std::map<SequenceId, Tokens> lists_;
  SequenceId sequence_ = 0;
  TokenId next_id_ = 0;
};

void check_ledger(const MemoryCounters& counters, const CacheGeometry& shape) {
  const Count tensors = 2 * shape.num_layers();
  const Count storages_held = (counters.allocations > 0) + (counters.held_old_bytes.total() > 0);
  REQUIRE(counters.buffers_allocated - counters.releases == tensors * storages_held);
  REQUIRE(counters.buffers_allocated == tensors * counters.allocations);
  REQUIRE(counters.allocations == counters.reallocations + (counters.allocations > 0));
  for (const LayerKind kind : layer_kinds) REQUIRE(counters.live_bytes[kind] <= counters.reserved_bytes[kind]);
  REQUIRE(counters.live_bytes.total() <= counters.live_bytes_peak.total());
  REQUIRE(counters.reserved_bytes.total() <= counters.reserved_bytes_peak.total());
  REQUIRE(counters.reserved_bytes.total() + counters.held_old_bytes.total() <= counters.transient_bytes_peak.total());
}

// Plan and buffered copy of one policy, driven in step.
class Pair {
 public:
  Pair(const std::string& spec, const CacheGeometry& shape)
      : spec_(spec),
        shape_(shape),
        plan_(plan_policy(spec, shape)),
        buffered_(policy(spec, buffered_setup())),
        caller_(*plan_) {}

  // False when the engine could not go on.
  bool call(const Lists::Asked& asked) {
    if (asked.truncated_to >= 0) truncate(asked);
    const Request request = caller_.request(asked.tokens, asked.sequence, asked.num_logits);
    const MemoryCounters before = plan_->ledger().counters();
    const Admission admission = plan_->admit(request);
    REQUIRE((admission == buffered_->admit(request)));
    check_bytes();
    if (admission.action == Action::refused || admission.action == Action::exceeded) {
      check_stopped(admission, before);
      return false;
    }
    check_admission(admission, request);
    check_sight(asked.tokens, admission);
    plan_->finish();
    buffered_->finish();
    check_bytes();
    check_ledger(plan_->ledger().counters(), shape_);
    caller_.remember(asked.tokens, admission);
    REQUIRE(caller_.evaluated <= caller_.requested);
    return true;
  }

  bool was_inexact = false;
  bool differed_where_inexact = false;

 private:
  PolicySetup buffered_setup() const {
    PolicySetup setup;
    setup.geometry = shape_;
    setup.buffers = true;
    setup.poison_unused = true;
    return setup;
  }

  void truncate(const Lists::Asked& asked) {
    const bool dropped = plan_->truncate(asked.sequence, asked.truncated_to);
    REQUIRE(dropped == buffered_->truncate(asked.sequence, asked.truncated_to));
    if (dropped) caller_.forget_answer();
    check_bytes();
  }

  // The ledger counts what was really taken, and the same with and without buffers.
  void check_bytes() const {
    const MemoryCounters& counters = plan_->ledger().counters();
    REQUIRE(counters == buffered_->ledger().counters());
    REQUIRE(buffered_->buffer_bytes().now == counters.reserved_bytes.total() + counters.held_old_bytes.total());
    REQUIRE(buffered_->buffer_bytes().peak == counters.transient_bytes_peak.total());
    REQUIRE(plan_->buffer_bytes().now == 0);
  }

  void check_stopped(const Admission& admission, const MemoryCounters& before) const {
    REQUIRE(admission.reused == 0);
    REQUIRE(admission.held_after == admission.held_before);
    REQUIRE(admission.capacity_after == admission.capacity_before);
    REQUIRE(plan_->ledger().counters() == before);
  }

  static void check_admission(const Admission& admission, const Request& request) {
    const Count length = static_cast<Count>(request.tokens.size());
    const Count without_rows = length - request.num_logits;
    const bool answer_fits = request.stored_answer_position == without_rows;
    REQUIRE(admission.reused >= 0);
    REQUIRE(admission.reused <= admission.common_prefix);
    REQUIRE(admission.reused <= without_rows + (answer_fits ? 1 : 0));
    REQUIRE(admission.common_prefix >= request.unchanged_prefix * (admission.held_before >= request.unchanged_prefix));
    REQUIRE(admission.kept <= admission.held_before);
    REQUIRE((admission.reused == admission.kept || admission.reused == 0));
    REQUIRE((admission.action == Action::cached) == (admission.reused == length));
    REQUIRE(admission.piece_tokens >= 0);
  }

  void check_sight(const Tokens& tokens, const Admission& admission) {
    const Fed fed = feed(*buffered_, tokens, admission, shape_);
    REQUIRE(fed.finite);
    if (admission.exact) REQUIRE(fed.as_cold);
    was_inexact = was_inexact || !admission.exact;
    differed_where_inexact = differed_where_inexact || (!admission.exact && !fed.as_cold);
    if (admission.piece_tokens == 0 && admission.action != Action::cached && spec_.find("guidance-0.2") != 0)
      check_rows_read(fed, tokens, admission);
  }

  // Distinct visible rows; engines that attend whole buffers read at least those.
  void check_rows_read(const Fed& fed, const Tokens& tokens, const Admission& admission) const {
    const bool capacity = spec_.find("attend=capacity") != std::string::npos;
    const Count length = static_cast<Count>(tokens.size());
    const PerKind attended{admission.attended_slots_global, admission.attended_slots_sliding};
    const PerKind storage = slots(shape_, plan_->ledger().counters().reserved_bytes);
    for (Count layer = 0; layer < shape_.num_layers(); ++layer) {
      const bool sliding = shape_.slides[static_cast<std::size_t>(layer)];
      const LayerKind kind = sliding ? LayerKind::sliding : LayerKind::global;
      const Count reach = length - admission.reused + shape_.sliding_window - 1;
      const Count visible = sliding ? std::min(length, reach) : length;
      INFO(name_of(admission.action) << " layer " << layer << " reused " << admission.reused << " of " << length);
      REQUIRE(attended[kind] == (capacity ? storage[kind] : 0));
      REQUIRE(fed.layers[static_cast<std::size_t>(layer)].rows_read == std::max(visible, attended[kind]));
    }
  }

  std::string spec_;
  CacheGeometry shape_;
  std::unique_ptr<CachePolicy> plan_, buffered_;
  Caller caller_;
};

}  // namespace

TEST_CASE("Every policy with every option keeps the contract on random lists") {
  const std::vector<std::string> layers{"sg", "gs", "ssg", "g", "s"};
  const std::vector<Count> windows{1, 2, 4, 8, 64};
  unsigned seed = 0;
  for (const std::string& spec : every_spec(small_capacity)) {
    const int runs = spec.find(':') == std::string::npos ? 300 : 4;  // presets have no options to vary
    for (int run = 0; run < runs; ++run) {
      Lists lists(++seed);
      const std::size_t shape = static_cast<std::size_t>(lists.up_to(4)),
                        window = static_cast<std::size_t>(lists.up_to(4));
      const ElementType type = lists.up_to(1) == 0 ? ElementType::fp32 : ElementType::bf16;
      INFO(spec << " seed " << seed << " layers " << layers[shape] << " window " << windows[window]);
      Pair pair(spec, geometry(layers[shape], windows[window], type, longest_list + 24));
      for (int i = 0; i < 16 && pair.call(lists.next()); ++i) {
      }
      if (spec.find("guidance-0.2") == std::string::npos) REQUIRE_FALSE(pair.was_inexact);
    }
  }
}

TEST_CASE("The preset that admits wrong rows really shows them") {
  int inexact = 0, differing = 0;
  for (unsigned seed = 1; seed <= 50; ++seed) {
    Lists lists(seed);
    Pair pair("guidance-0.2+transformers-4.47", geometry("sg", 8));
    for (int i = 0; i < 16 && pair.call(lists.next()); ++i) {
    }
    inexact += pair.was_inexact;
    differing += pair.differed_where_inexact;
  }
  CHECK(inexact > 10);
  CHECK(differing == inexact);
}
