#include "policies/memory_ledger.hpp"

#include "tests/catch.hpp"
#include "tests/policies/support.hpp"

using namespace kvreplay::policies;
using namespace kvreplay::policies::testing;

namespace {

// Storage that takes each capacity in turn and copies all of the one before.
MemoryLedger grown_by_copying(const CacheGeometry& shape, const std::vector<Count>& capacities, Replacement how) {
  MemoryLedger ledger(shape);
  Count copied = 0;
  for (const Count capacity : capacities) {
    ledger.take({capacity, capacity}, how);
    ledger.count_copied({copied, copied});
    ledger.set_live({capacity, capacity});
    ledger.end_evaluation();
    copied = capacity;
  }
  return ledger;
}

}  // namespace

TEST_CASE("Growing by copying holds old and new storage together") {
  const CacheGeometry one_layer = geometry("g", 4);
  const Count row = one_layer.row_bytes();
  // Single tokens up to 17 from capacity 4: 4, 8, 16, 32.
  const MemoryLedger ledger = grown_by_copying(one_layer, {4, 8, 16, 32}, Replacement::hold_old);
  const MemoryCounters& counters = ledger.counters();
  CHECK(counters.reallocations == 3);
  CHECK(counters.allocations == 4);
  CHECK(counters.buffers_allocated == 8);
  CHECK(counters.releases == 6);
  CHECK(counters.bytes_copied.total() == 28 * row);
  CHECK(counters.transient_bytes_peak.total() == 48 * row);
  CHECK(counters.reserved_bytes.total() == 32 * row);
  CHECK(counters.bytes_allocated.total() == 60 * row);
  CHECK(grown_by_copying(one_layer, {4, 8}, Replacement::hold_old).counters().transient_bytes_peak.total() == 12 * row);
  CHECK(grown_by_copying(one_layer, {4, 8, 16}, Replacement::hold_old).counters().transient_bytes_peak.total() ==
        24 * row);
  CHECK(grown_by_copying(one_layer, {256, 512, 1024}, Replacement::hold_old).counters().transient_bytes_peak.total() ==
        1536 * row);
}

TEST_CASE("The way of replacing changes peaks and nothing else") {
  const CacheGeometry two_layers = geometry("gg", 4);
  const Count row = two_layers.row_bytes();
  const auto peak = [&](Replacement how) {
    return grown_by_copying(two_layers, {4, 8}, how).counters().transient_bytes_peak.total();
  };
  CHECK(peak(Replacement::hold_old) == 24 * row);  // 2 layers of 4 and of 8
  CHECK(peak(Replacement::free_first) == 16 * row);
  // Both layers are new but for the last tensor, whose old half row is still there.
  CHECK(2 * peak(Replacement::tensor_by_tensor) == 32 * row + 4 * row);

  const auto totals = [&](Replacement how) {
    MemoryCounters counters = grown_by_copying(two_layers, {4, 8, 16}, how).counters();
    counters.transient_bytes_peak = {};
    return counters;
  };
  CHECK(totals(Replacement::hold_old) == totals(Replacement::free_first));
  CHECK(totals(Replacement::hold_old) == totals(Replacement::tensor_by_tensor));
}

TEST_CASE("Replacing tensor by tensor peaks at the heaviest moment in layer order, whatever grows or shrinks") {
  // Oracle: walk through the tensors.
  const auto walked = [](const CacheGeometry& shape, PerKind before, PerKind after) {
    Count held = 0, peak = 0;
    const Count half = shape.row_bytes() / 2;
    for (const bool slides : shape.slides) held += 2 * half * (slides ? before.sliding : before.global);
    for (const bool slides : shape.slides) {
      for (int tensor = 0; tensor < 2; ++tensor) {
        held += half * (slides ? after.sliding : after.global);
        peak = std::max(peak, held);
        held -= half * (slides ? before.sliding : before.global);
      }
    }
    return peak;
  };
  for (const std::string layers : {"g", "s", "gs", "sg", "sgsgsg", "ggsss", "sssgg", "gsggsg"}) {
    for (const PerKind before : {PerKind{10, 10}, PerKind{10, 3}, PerKind{3, 10}}) {
      for (const PerKind after : {PerKind{11, 11}, PerKind{11, 4}, PerKind{4, 11}, PerKind{2, 2}, PerKind{10, 10}}) {
        const CacheGeometry shape = geometry(layers, 4);
        MemoryLedger ledger(shape);
        ledger.take(before, Replacement::free_first);
        ledger.take(after, Replacement::tensor_by_tensor);
        INFO(layers << " " << before.global << "," << before.sliding << " -> " << after.global << "," << after.sliding);
        CHECK(ledger.counters().transient_bytes_peak.total() == walked(shape, before, after));
      }
    }
  }
}

TEST_CASE("Concatenating a hundred single tokens allocates a hundred times and copies 4,950 rows") {
  const CacheGeometry one_layer = geometry("g", 4);
  const auto cache = plan_policy("crop", one_layer);
  Caller caller(*cache);
  grow(caller, 1, 99);
  const MemoryCounters& counters = cache->ledger().counters();
  CHECK(counters.allocations == 100);
  CHECK(counters.reallocations == 99);
  CHECK(counters.bytes_copied.total() == 4950 * one_layer.row_bytes());
  CHECK(counters.transient_bytes_peak.total() == (99 + 100) * one_layer.row_bytes());
}

TEST_CASE("The limit is checked against everything held at once, before anything is counted") {
  const CacheGeometry shape = geometry("gs", 4);
  const Count row = shape.row_bytes();
  MemoryLedger ledger(shape, 100 * row);
  ledger.check_limit({50, 50}, Replacement::hold_old);
  ledger.take({30, 10}, Replacement::hold_old);
  const MemoryCounters before = ledger.counters();
  CHECK_NOTHROW(ledger.check_limit({50, 10}, Replacement::hold_old));
  CHECK_NOTHROW(ledger.check_limit({90, 10}, Replacement::free_first));
  try {
    ledger.check_limit({51, 10}, Replacement::hold_old);
    FAIL("the limit was not seen");
  } catch (const MemoryLimitExceeded& error) {
    CHECK(error.held_bytes == 40 * row);
    CHECK(error.wanted_bytes == 101 * row);
    CHECK(error.limit_bytes == 100 * row);
  }
  CHECK(ledger.counters() == before);
}

TEST_CASE("A policy that meets the limit changes nothing") {
  PolicySetup setup;
  setup.geometry = geometry("gs", 4);
  setup.buffers = true;
  setup.memory_limit_bytes = 30 * setup.geometry.row_bytes();
  const auto cache = policy("doubling:sliding=full", setup);
  Caller caller(*cache);
  caller.call(ids(5));  // 10 rows
  const MemoryCounters before = cache->ledger().counters();
  CHECK_THROWS_AS(caller.call(ids(6)), MemoryLimitExceeded);  // 24 more
  CHECK(cache->ledger().counters() == before);
  CHECK(cache->buffer_bytes().now == 10 * setup.geometry.row_bytes());
  const auto thrifty = policy("doubling:sliding=full,hold_old=false", setup);
  Caller other(*thrifty);
  other.call(ids(5));
  CHECK_NOTHROW(other.call(ids(6)));
}

TEST_CASE("Peaks keep the split of their own moment") {
  MemoryLedger ledger(geometry("gs", 4));
  const Count row = geometry("gs", 4).row_bytes();
  ledger.take({10, 2}, Replacement::free_first);
  ledger.take({3, 8}, Replacement::free_first);
  CHECK(ledger.counters().reserved_bytes_peak == PerKind{10 * row, 2 * row});
  ledger.take({6, 8}, Replacement::free_first);
  CHECK(ledger.counters().reserved_bytes_peak == PerKind{6 * row, 8 * row});
}

// 7 + 7 + 3 rows in two global layers, 1 + 1 + 0 in the sliding one.
TEST_CASE("Slack adds up what is reserved and not live after every evaluation") {
  const CacheGeometry shape = geometry("ggs", 4);
  MemoryLedger ledger(shape);
  ledger.take({10, 4}, Replacement::hold_old);
  for (const Count held : {3, 3, 7}) {
    ledger.set_live({held, std::min<Count>(held, 4)});
    ledger.end_evaluation();
  }
  CHECK(ledger.counters().slack_byte_steps == PerKind{34 * shape.row_bytes(), 2 * shape.row_bytes()});
}

TEST_CASE("Sizes of a Gemma2 cache follow the number of KV heads and the window of sliding layers") {
  CacheGeometry gemma2_2b;
  gemma2_2b.num_kv_heads = 4;
  gemma2_2b.head_dim = 256;
  gemma2_2b.sliding_window = 4096;
  gemma2_2b.max_positions = 8192;
  for (int layer = 0; layer < 26; ++layer) gemma2_2b.slides.push_back(layer % 2 == 0);
  const auto reserved = [&](const std::string& spec, const CacheGeometry& shape, Count length) {
    const auto cache = plan_policy(spec, shape);
    Caller(*cache).call(ids(length));
    return cache->ledger().counters().reserved_bytes.total();
  };
  CHECK(gemma2_2b.row_bytes() == 8192);
  CHECK(reserved("discard", gemma2_2b, 1) == 212'992);
  CHECK(reserved("discard", gemma2_2b, 4096) == 872'415'232);
  CHECK(reserved("discard", gemma2_2b, 4097) == 872'521'728);
  CHECK(reserved("fixed:sliding=window", gemma2_2b, 1) == 1'308'622'848);
  CHECK(reserved("fixed", gemma2_2b, 1) == 1'744'830'464);
  CacheGeometry bf16 = gemma2_2b;
  bf16.element_type = ElementType::bf16;
  CHECK(reserved("fixed", bf16, 1) == 1'744'830'464 / 2);
  CacheGeometry gemma2_9b = gemma2_2b;
  gemma2_9b.num_kv_heads = 8;
  for (int layer = 26; layer < 42; ++layer) gemma2_9b.slides.push_back(layer % 2 == 0);
  CHECK(reserved("fixed:sliding=window", gemma2_9b, 1) == 4'227'858'432);
  CHECK(reserved("fixed", gemma2_9b, 1) == 5'637'144'576);
}

TEST_CASE("Peaks of one policy do not depend on the policies run before it") {
  const auto peak = [](Count length) {
    const auto cache = plan_policy("discard", geometry("gs", 4));
    Caller(*cache).call(ids(length));
    return cache->ledger().counters().transient_bytes_peak.total();
  };
  const Count ten = peak(10), thirty = peak(30), twenty = peak(20);
  CHECK(ten == peak(10));
  CHECK(twenty == peak(20));
  CHECK(thirty > twenty);
}
