// The guidance 0.2 preset's rolling buffers, against published cases of transformers 4.47.
#include "policies/occupancy.hpp"
#include "tests/catch.hpp"
#include "tests/policies/support.hpp"

#include <algorithm>

using namespace kvreplay::policies;
using namespace kvreplay::policies::testing;

namespace {

constexpr const char* preset = "guidance-0.2+transformers-4.47";

PolicySetup buffered(const CacheGeometry& shape) {
  PolicySetup setup;
  setup.geometry = shape;
  setup.buffers = true;
  return setup;
}

// Buffer of 8 slots in a cache of 16: what each slot holds, position + 1 or 0.
class Roller {
 public:
  Roller() : shape_(geometry("sg", 8)), cache_(policy(preset, buffered(shape_))), caller_(*cache_) {
    call(1);
    call(5);  // overflow: 10 slots, of which a sliding layer takes 8
  }
  std::vector<Count> call(Count length) {
    const Tokens tokens = ids(length);
    admission = cache_->admit(caller_.request(tokens, 0, 1));
    std::vector<Count> contents;
    const std::vector<Marker> cold = markers(tokens, 0);
    const Piece fresh = piece(cold, admission.reused, length - admission.reused, shape_);
    for (const SeenRow& row : read(cache_->rows(0, fresh.rows), shape_))
      contents.push_back(static_cast<Count>(row.marker.values[0]));
    cache_->finish();
    caller_.remember(tokens, admission);
    return contents;
  }
  Admission admission;

 private:
  CacheGeometry shape_;
  std::unique_ptr<CachePolicy> cache_;
  Caller caller_;
};

}  // namespace

TEST_CASE("The buffer rolls one step too early and leaves a hole") {
  Roller roller;
  CHECK(roller.call(6) == std::vector<Count>{1, 2, 3, 4, 5, 6, 0, 0});
  CHECK(roller.call(7) == std::vector<Count>{1, 2, 3, 4, 5, 6, 7, 0});
  CHECK(roller.admission.exact);
  CHECK(roller.call(8) == std::vector<Count>{2, 3, 4, 5, 6, 7, 0, 8});
  CHECK_FALSE(roller.admission.exact);
  CHECK(roller.admission.held_after == 7);
}

TEST_CASE("Of a burst over the end of the buffer only the last row survives") {
  Roller roller;
  roller.call(6);
  CHECK(roller.call(9) == std::vector<Count>{2, 3, 4, 5, 6, 0, 7, 9});
  CHECK_FALSE(roller.admission.exact);
}

TEST_CASE("Non-zero rows are counted as the engine counts them") {
  Occupancy rows(8);
  rows.update(0, 5);
  CHECK(rows.count() == 5);
  rows.update(5, 2);
  CHECK(rows.count() == 7);
  CHECK(rows.rolls(7, 1));
  rows.update(7, 1);
  CHECK(rows.count() == 7);  // position 0 left, a zero row came
  rows.update(8, 9);
  CHECK(rows.count() == 8);
}

TEST_CASE("With a window never reached the preset feeds as doubling does and spoils the last call of each period") {
  const CacheGeometry shape = geometry("sg", 4096);
  const auto cache = plan_policy(preset, shape);
  Caller caller(*cache);
  std::vector<Count> wrong;
  for (Count length = 37; length <= 1037; ++length) {
    if (!caller.call(ids(length)).exact) wrong.push_back(length);
  }
  CHECK(caller.evaluated == 2236);
  CHECK(wrong == std::vector<Count>{76, 154, 310, 622});
}

TEST_CASE("Beyond the window the preset feeds everything after it again") {
  const auto cache = plan_policy(preset, geometry("sg", 256));
  Caller caller(*cache);
  Count first_wrong = 0;
  for (Count length = 37; length <= 1037; ++length) {
    const Admission admission = caller.call(ids(length));
    if (!admission.exact && first_wrong == 0) first_wrong = length;
  }
  CHECK(caller.evaluated == 306'460);
  CHECK(first_wrong == 76);
}

TEST_CASE("A list of the model's maximum is refused by both guidance presets before anything changes") {
  for (const std::string spec : {preset, "guidance-0.3+transformers-4.57"}) {
    INFO(spec);
    const auto cache = plan_policy(spec, geometry("sg", 64, ElementType::fp32, 32));
    Caller caller(*cache);
    CHECK(caller.call(ids(31)).action == Action::first);
    const MemoryCounters before = cache->ledger().counters();
    CHECK(caller.call(ids(32)).action == Action::exceeded);
    CHECK(cache->ledger().counters() == before);
    CHECK(plan_policy(spec, geometry("sg", 64, ElementType::fp32, 32))->admit({0, ids(32)}).action == Action::exceeded);
  }
}

TEST_CASE("A burst larger than the buffer is added to what was there and sees only itself") {
  const CacheGeometry shape = geometry("s", 4);
  const auto cache = policy(preset, buffered(shape));
  Caller caller(*cache);
  const auto call = [&](Count length) {
    const Tokens tokens = ids(length);
    const Admission admission = cache->admit(caller.request(tokens, 0, 1));
    const Piece fresh = piece(markers(tokens, 0), admission.reused, length - admission.reused, shape);
    const KvView view = cache->rows(0, fresh.rows);
    auto rows = read(view, shape);
    const std::vector<std::uint8_t> visible(view.visible.begin(), view.visible.end());
    cache->finish();
    caller.remember(tokens, admission);
    return std::pair(rows, visible);
  };
  call(1);
  call(9);                                // 18 slots, 4 in the sliding layer: holds 6..9 as markers of positions 5..8
  const auto [rows, visible] = call(14);  // counted length 4, so 10 tokens from position 4
  REQUIRE(rows.size() == 10);
  CHECK(rows.front().marker.values[0] == 5);
  // Query 0 at position 4 sees rows up to index 4, later ones included; query 9 sees the window by index.
  CHECK(std::vector<int>(visible.begin(), visible.begin() + 10) == std::vector<int>{1, 1, 1, 1, 1, 0, 0, 0, 0, 0});
  CHECK(std::vector<int>(visible.end() - 10, visible.end()) == std::vector<int>{0, 0, 0, 0, 0, 0, 1, 1, 1, 1});
  // Going back to 7 tokens is no rewind for the engine, which counts 4: it feeds 3, rolls once and writes all three
  // into the last slot. The others hold sums of the rows of positions 5..8 and 10..13.
  std::vector<float> contents;
  for (const SeenRow& row : call(7).first) contents.push_back(row.marker.values[0]);
  CHECK(contents == std::vector<float>{7 + 12, 8 + 13, 9 + 14, 7});
}

TEST_CASE("A layer order that starts with a global layer counts all tokens") {
  const auto cache = plan_policy(preset, geometry("gs", 4));
  Caller caller(*cache);
  for (Count length = 2; length <= 12; ++length) caller.call(ids(length));
  CHECK(caller.call(ids(13)).reused == 12);
}
