// Published and hand-worked numbers of a list that grows and is rewound once, at plan depth.
#include "tests/catch.hpp"
#include "tests/policies/support.hpp"

using namespace kvreplay::policies;
using namespace kvreplay::policies::testing;

namespace {

// A first call of P tokens, N single tokens, then a list that shares m = P + N - k tokens and adds a.
struct Scenario {
  Count first = 37, steps = 1000, window = 256;
};

struct Growth {
  std::unique_ptr<CachePolicy> cache;
  CacheGeometry shape;
  std::unique_ptr<Caller> caller;
  Tokens tokens;
  Count capacity = 0;

  const MemoryCounters& counters() const { return cache->ledger().counters(); }
  PerKind rows(PerKind bytes) const { return slots(shape, bytes); }
};

Growth grown(const std::string& spec, Scenario scenario = {}, const std::string& layers = "gs") {
  Growth growth;
  growth.shape = geometry(layers, scenario.window);
  growth.cache = plan_policy(spec, growth.shape);
  growth.caller = std::make_unique<Caller>(*growth.cache);
  growth.tokens = grow(*growth.caller, scenario.first, scenario.steps);
  growth.capacity = growth.rows(growth.counters().reserved_bytes).global;
  return growth;
}

struct Rewind {
  Admission admission;
  Count evaluated = 0;
  PerKind copied, zeroed;
  Count reallocations = 0;
};

Rewind rewound(Growth& growth, Count dropped, Count added) {
  const MemoryCounters before = growth.counters();
  const Count evaluated = growth.caller->evaluated;
  Rewind rewind;
  const Tokens kept = prefix(growth.tokens, static_cast<Count>(growth.tokens.size()) - dropped);
  rewind.admission = growth.caller->call(joined(kept, ids(added, 7)));
  rewind.evaluated = growth.caller->evaluated - evaluated;
  rewind.copied = growth.rows(growth.counters().bytes_copied - before.bytes_copied);
  rewind.zeroed = growth.rows(growth.counters().bytes_zeroed - before.bytes_zeroed);
  rewind.reallocations = growth.counters().reallocations - before.reallocations;
  return rewind;
}

}  // namespace

TEST_CASE("discard takes new storage of exactly the wanted length for every token") {
  Growth growth = grown("discard");
  CHECK(growth.counters().reallocations == 1000);
  CHECK(growth.caller->evaluated == 537'537);
  CHECK(growth.rows(growth.counters().transient_bytes_peak) == PerKind{2073, 512});
  CHECK(growth.rows(growth.counters().bytes_zeroed).global == 537'537);
  CHECK(growth.counters().bytes_copied.total() == 0);
  CHECK(growth.counters().slack_byte_steps.total() == 0);
  const Rewind rewind = rewound(growth, 64, 1);
  CHECK(rewind.admission.action == Action::discard);
  CHECK(rewind.evaluated == 974);
  CHECK(rewind.zeroed == PerKind{974, 256});
  CHECK(rewind.reallocations == 1);
  CHECK(grown("discard:hold_old=false").counters().transient_bytes_peak.global == 1037 * geometry("g", 1).row_bytes());
  CHECK(grown("discard", {5, 100, 256}).caller->evaluated == 5555);
}

TEST_CASE("doubling drops everything whenever the list outgrows the storage") {
  Growth growth = grown("doubling");
  const MemoryCounters& counters = growth.counters();
  CHECK(counters.reallocations == 5);
  CHECK(growth.capacity == 1246);
  CHECK(growth.caller->evaluated == 2236);
  CHECK(growth.rows(counters.bytes_zeroed) == PerKind{2445, 1035});
  CHECK(growth.rows(counters.transient_bytes_peak) == PerKind{1868, 512});
  CHECK(growth.rows(counters.slack_byte_steps) == PerKind{236'990, 8'895});
  CHECK(counters.bytes_copied.total() == 0);
  const Rewind rewind = rewound(growth, 64, 1);
  CHECK(rewind.admission.action == Action::reset);
  CHECK(rewind.evaluated == 974);
  CHECK(rewind.zeroed == PerKind{1246, 256});
  CHECK(rewind.reallocations == 0);
  const Growth released = grown("doubling:hold_old=false");
  CHECK(released.rows(released.counters().transient_bytes_peak) == PerKind{1246, 256});
}

TEST_CASE("doubling's capacities are twice the wanted length, never the old capacity") {
  const auto capacities = [](Count first, Count last) {
    const auto cache = plan_policy("doubling", geometry("gs", 8));
    Caller caller(*cache);
    std::vector<std::pair<Count, Count>> changes;  // length, capacity
    for (Count length = first; length <= last; ++length) {
      const Admission admission = caller.call(ids(length));
      if (admission.capacity_after != admission.capacity_before) changes.emplace_back(length, admission.capacity_after);
      if (admission.action == Action::grow) CHECK(admission.reused == 0);
    }
    return changes;
  };
  using Changes = std::vector<std::pair<Count, Count>>;
  CHECK(capacities(5, 30) == Changes{{5, 5}, {6, 12}, {13, 26}, {27, 54}});
  CHECK(capacities(1, 11) == Changes{{1, 1}, {2, 4}, {5, 10}, {11, 22}});
  CHECK(capacities(37, 1037) == Changes{{37, 37}, {38, 76}, {77, 154}, {155, 310}, {311, 622}, {623, 1246}});
  CHECK(grown("doubling", {5, 25, 8}).caller->evaluated == 73);
}

TEST_CASE("doubling follows its closed formulas") {
  for (const Scenario scenario : {Scenario{5, 100}, Scenario{1, 50}, Scenario{37, 1000}, Scenario{10, 11},
                                  Scenario{10, 12}, Scenario{10, 1}, Scenario{3, 0}}) {
    const Growth growth = grown("doubling", scenario);
    const Count total = scenario.first + scenario.steps;
    Count steps = 0;  // ceil(log2((T + 2) / (P + 2)))
    while ((scenario.first + 2) << steps < total + 2) ++steps;
    const Count power = Count{1} << steps;
    INFO("P " << scenario.first << " N " << scenario.steps);
    CHECK(growth.counters().reallocations == steps);
    CHECK(growth.capacity == power * (scenario.first + 2) - 2);
    CHECK(growth.caller->evaluated == total + (scenario.first + 2) * (power - 1) - 2 * steps);
    CHECK(growth.rows(growth.counters().bytes_zeroed).global ==
          (scenario.first + 2) * (2 * power - 1) - 2 * (steps + 1));
  }
  CHECK(grown("doubling", {5, 100}).capacity == 110);
  CHECK(grown("doubling", {5, 100}).caller->evaluated == 202);
  CHECK(grown("doubling", {1, 50}).counters().reallocations == 5);
  CHECK(grown("doubling", {1, 50}).capacity == 94);
  CHECK(grown("doubling", {1, 50}).caller->evaluated == 134);
}

TEST_CASE("A rewind to a list longer than the storage is an overflow") {
  Growth growth = grown("doubling");
  const Rewind rewind = rewound(growth, 64, 300);  // 973 + 300 > 1246
  CHECK(rewind.admission.action == Action::grow);
  CHECK(rewind.admission.overflow);
  CHECK(rewind.admission.capacity_after == 2546);
  CHECK(growth.caller->rewinds_asked == 1);
}

TEST_CASE("doubling may be held to the model's maximum") {
  const auto last_capacity = [](const std::string& spec, Count length) {
    const auto cache = plan_policy(spec, geometry("gs", 4, ElementType::fp32, 100));
    Caller caller(*cache);
    caller.call(ids(10));
    return caller.call(ids(length)).capacity_after;
  };
  CHECK(last_capacity("doubling", 60) == 120);
  CHECK(last_capacity("doubling:clamp=true", 60) == 100);
  CHECK(last_capacity("doubling:clamp=true", 20) == 40);
}

TEST_CASE("crop copies what it keeps at every append") {
  Growth growth = grown("crop");
  const MemoryCounters& counters = growth.counters();
  CHECK(counters.reallocations == 1000);
  CHECK(counters.buffers_allocated == 4004);
  CHECK(growth.caller->evaluated == 1037);
  CHECK(growth.rows(counters.bytes_copied) == PerKind{536'500, 536'500});
  CHECK(counters.bytes_zeroed.total() == 0);
  CHECK(growth.rows(counters.transient_bytes_peak) == PerKind{2073, 2073});
  const Rewind rewind = rewound(growth, 64, 1);
  CHECK(rewind.admission.action == Action::crop);
  CHECK(rewind.admission.crop_to == 973);
  CHECK(rewind.evaluated == 1);
  CHECK(rewind.copied == PerKind{973, 973});
  CHECK(rewind.reallocations == 1);
  Growth seed = grown("crop:keep=seed");
  const Rewind seed_rewind = rewound(seed, 64, 1);
  CHECK(seed_rewind.evaluated == 2);
  CHECK(seed_rewind.copied == PerKind{972, 972});
  // Tensor by tensor: all new rows and one old K or V tensor.
  const Growth released = grown("crop:hold_old=false", {}, "g");
  CHECK(2 * released.counters().transient_bytes_peak.total() == (2 * 1037 + 1036) * released.shape.row_bytes());
}

TEST_CASE("crop with a trimmed window copies at most W - 1 sliding rows and can not rewind past them") {
  Growth growth = grown("crop:sliding=window");
  CHECK(growth.rows(growth.counters().bytes_copied) == PerKind{536'500, 231'129});
  CHECK(growth.rows(growth.counters().reserved_bytes) == PerKind{1037, 256});
  CHECK(growth.rows(growth.counters().live_bytes) == PerKind{1037, 255});
  const Rewind rewind = rewound(growth, 64, 1);
  CHECK(rewind.admission.action == Action::discard);
  CHECK(rewind.admission.window_passed);
  CHECK(rewind.evaluated == 974);
  CHECK(rewind.copied == PerKind{0, 0});
  // A long prefill's storage stays until the next append.
  const auto cache = plan_policy("crop:sliding=window", growth.shape);
  Caller caller(*cache);
  caller.call(ids(1000));
  CHECK(slots(growth.shape, cache->ledger().counters().reserved_bytes).sliding == 1000);
  caller.call(ids(1001));
  CHECK(slots(growth.shape, cache->ledger().counters().reserved_bytes).sliding == 256);
}

TEST_CASE("reset does on overflow what its option says") {
  Growth discards = grown("reset");
  CHECK(discards.counters().reallocations == 1000);
  CHECK(discards.caller->evaluated == 537'537);
  const Rewind rewind = rewound(discards, 64, 1);
  CHECK(rewind.admission.action == Action::reset);
  CHECK(rewind.evaluated == 974);
  CHECK(rewind.zeroed == PerKind{1037, 256});
  CHECK(rewind.reallocations == 0);
  const Growth doubles = grown("reset:overflow=doubling");
  CHECK(doubles.counters() == grown("doubling").counters());
  Growth stays = grown("reset:overflow=fixed,capacity=1037");
  CHECK(stays.counters().allocations == 1);
  CHECK(stays.rows(stays.counters().bytes_zeroed) == PerKind{1037, 256});
  CHECK(stays.caller->call(ids(1038)).action == Action::exceeded);
}

TEST_CASE("fixed takes its slots once, shortens for nothing and stops when they are used up") {
  Growth growth = grown("fixed:capacity=1100");
  CHECK(growth.counters().allocations == 1);
  CHECK(growth.caller->evaluated == 1037);
  CHECK(growth.rows(growth.counters().bytes_zeroed) == PerKind{1100, 1100});
  const Rewind rewind = rewound(growth, 64, 1);
  CHECK(rewind.admission.action == Action::crop);
  CHECK(rewind.evaluated == 1);
  CHECK(rewind.zeroed.total() + rewind.copied.total() + rewind.reallocations == 0);
  const MemoryCounters before = growth.counters();
  const Admission exceeded = growth.caller->call(ids(1101));
  CHECK(exceeded.action == Action::exceeded);
  CHECK(exceeded.overflow);
  CHECK(exceeded.held_after == 974);
  CHECK(growth.counters() == before);
  CHECK(growth.caller->call(ids(1100)).action == Action::crop);
  CHECK(grown("fixed", {37, 100, 16}).capacity == 8192);
  CHECK(plan_policy("fixed:capacity=4", geometry("gs", 4))->admit({0, Tokens{1, 2, 3, 4, 5}}).action ==
        Action::exceeded);
}

TEST_CASE("A ring of exactly the window serves a rewind of one token and no more") {
  for (const Count dropped : {1, 2, 64}) {
    Growth growth = grown("fixed:sliding=window");
    CHECK(growth.rows(growth.counters().reserved_bytes).sliding == 256);
    const Rewind rewind = rewound(growth, dropped, 1);
    CHECK(rewind.admission.window_passed == (dropped > 1));
    CHECK(rewind.evaluated == (dropped > 1 ? 1037 - dropped + 1 : 1));
    CHECK(rewind.admission.action == Action::crop);
    CHECK(rewind.zeroed.total() == 0);
  }
  Growth seed = grown("fixed:sliding=window,keep=seed");
  CHECK(rewound(seed, 1, 1).evaluated == 1037);  // keeps one less, which the ring has lost
  Growth unfilled = grown("fixed:sliding=window", {37, 219, 256});
  CHECK(rewound(unfilled, 64, 1).evaluated == 1);  // 256 tokens in 256 slots: nothing lost
  Growth full_by_one = grown("fixed:sliding=window", {37, 220, 256});
  CHECK(rewound(full_by_one, 64, 1).evaluated == 194);
  // A second rewind counts from what is left, not from the length.
  Growth twice = grown("fixed:sliding=window");
  CHECK(twice.cache->truncate(0, 1036));
  CHECK_FALSE(twice.cache->truncate(0, 1035));
}
