// How much of a wanted list each policy reuses.
#include "tests/catch.hpp"
#include "tests/policies/support.hpp"

using namespace kvreplay::policies;
using namespace kvreplay::policies::testing;

TEST_CASE("A list that ends where the slot ends is answered from the stored row") {
  for (const std::string spec : {"discard", "crop", "reset", "doubling", "fixed", "fixed:keep=seed"}) {
    INFO(spec);
    const auto cache = plan_policy(spec, geometry("gs", 8));
    Caller caller(*cache);
    caller.call(ids(20));
    const Admission again = caller.call(ids(20));
    CHECK(again.action == Action::cached);
    CHECK(again.reused == 20);
    caller.forget_answer();
    const Admission fed = caller.call(ids(20));
    CHECK(fed.kept == 19);
    CHECK(fed.held_before == 20);
    CHECK(fed.reused == (spec == "discard" || spec == "reset" || spec == "doubling" ? 0 : 19));
  }
}

TEST_CASE("Twenty tokens in thirty-two slots: what each rewind costs") {
  const std::vector<std::pair<std::string, std::vector<Count>>> expected{
      // append 1, strict prefix of 15, diverge at 15 with 3 new, identical, nothing common with 2 tokens
      {"crop", {1, 1, 3, 0, 2}},
      {"crop:keep=seed", {1, 1, 4, 0, 2}},
      {"fixed:capacity=32", {1, 1, 3, 0, 2}},
      {"fixed:capacity=32,keep=seed", {1, 1, 4, 0, 2}},
      {"reset:overflow=fixed,capacity=32", {1, 15, 18, 0, 2}},
      {"reset:overflow=fixed,capacity=32,keep=seed", {1, 15, 18, 0, 2}},
  };
  const std::vector<Tokens> wanted{ids(21), ids(15), joined(ids(15), ids(3, 7)), ids(20), ids(2, 7)};
  for (const auto& [spec, evaluated] : expected) {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto cache = plan_policy(spec, geometry("gs", 64));
      Caller caller(*cache);
      caller.call(ids(20));
      caller.call(wanted[i]);
      INFO(spec << " case " << i);
      CHECK(caller.evaluated - 20 == evaluated[i]);
    }
  }
}

TEST_CASE("A divergence inside the cached list resets the count of reused tokens where nothing survives") {
  for (const auto& [spec, reused] : std::vector<std::pair<std::string, Count>>{
           {"crop", 3}, {"fixed", 3}, {"discard", 0}, {"reset", 0}, {"doubling", 0}}) {
    const auto cache = plan_policy(spec, geometry("gs", 8));
    Caller caller(*cache);
    caller.call({1, 2, 3, 4, 5});
    INFO(spec);
    CHECK(caller.call({1, 2, 3, 9}).reused == reused);
    CHECK(caller.evaluated == 5 + 4 - reused);
  }
}

TEST_CASE("Wanting more rows of logits than are new feeds tokens again") {
  const auto cache = plan_policy("crop", geometry("gs", 8));
  Caller caller(*cache);
  caller.call(ids(10));
  // Two rows, both new.
  CHECK(caller.call(ids(12), 0, 2).reused == 10);
  // Three rows, two new: the third is the stored answer at position 11.
  CHECK(caller.call(ids(14), 0, 3).reused == 12);
  // The same without the answer: one token is fed again and counts as a rewind.
  caller.forget_answer();
  const Admission fed = caller.call(ids(16), 0, 3);
  CHECK(fed.reused == 13);
  CHECK(fed.held_before > fed.kept);
  CHECK(fed.action == Action::crop);
}

TEST_CASE("Truncating at once keeps exactly what is asked, whatever the keep rule") {
  for (const std::string spec : {"crop", "crop:keep=seed", "fixed", "fixed:keep=seed"}) {
    INFO(spec);
    const auto cache = plan_policy(spec, geometry("gs", 8));
    Caller caller(*cache);
    caller.call(ids(20), 3);
    CHECK_FALSE(cache->truncate(4, 10));  // not the list in the slot
    CHECK_FALSE(cache->truncate(3, 20));
    CHECK_FALSE(cache->truncate(3, 25));
    CHECK(cache->truncate(3, 12));
    CHECK(slots(geometry("gs", 8), cache->ledger().counters().live_bytes) == PerKind{12, 12});
    CHECK_FALSE(cache->truncate(3, 12));
    const Admission admission = caller.call(joined(ids(12), ids(2, 7)), 3);
    CHECK(admission.held_before == 12);
    CHECK(admission.reused == 12);
    CHECK(admission.action == Action::append);
    CHECK(cache->truncate(3, 0));
    CHECK(caller.call(ids(5), 3).held_before == 0);
  }
  for (const std::string spec : {"discard", "reset", "doubling"}) {
    const auto cache = plan_policy(spec, geometry("gs", 8));
    Caller caller(*cache);
    caller.call(ids(20), 3);
    CHECK_FALSE(cache->truncate(3, 12));
  }
}

TEST_CASE("Truncating past the window does nothing and leaves the rewind to the next admission") {
  const auto cache = plan_policy("crop:sliding=window", geometry("gs", 8));
  Caller caller(*cache);
  caller.call(ids(20));
  CHECK_FALSE(cache->truncate(0, 15));
  const Admission admission = caller.call(joined(ids(15), ids(1, 7)));
  CHECK(admission.held_before == 20);
  CHECK(admission.window_passed);
  CHECK(admission.reused == 0);
}

TEST_CASE("The slot is shared by all sequences and survives their end") {
  const auto cache = plan_policy("fixed", geometry("gs", 8));
  Caller caller(*cache);
  caller.call(ids(20), 1);
  cache->release(1);
  const Admission admission = caller.call(joined(ids(20), ids(2, 7)), 2);
  CHECK(admission.reused == 20);
  CHECK(admission.action == Action::append);
}

TEST_CASE("An exceeded policy names the longest list it would have taken") {
  const CacheGeometry shape = geometry("gs", 8, ElementType::fp32, 40);
  const auto limit = [&](const std::string& spec, Count first, Count then) {
    const auto cache = plan_policy(spec, shape);
    Caller caller(*cache);
    if (first > 0) caller.call(ids(first));
    const Admission admission = caller.call(ids(then));
    CHECK(admission.action == Action::exceeded);
    return admission.limit;
  };
  CHECK(limit("fixed:capacity=16", 0, 17) == 16);
  CHECK(limit("fixed:capacity=16", 5, 17) == 16);
  CHECK(limit("fixed", 5, 41) == 40);
  CHECK(limit("reset:overflow=fixed,capacity=16", 0, 20) == 16);
  CHECK(limit("reset:overflow=fixed,capacity=16", 1, 20) == 16);
  CHECK(limit("guidance-0.2+transformers-4.47", 0, 40) == 39);
  CHECK(limit("guidance-0.3+transformers-4.57", 20, 40) == 39);
}

TEST_CASE("After a list that was not taken nothing is believed about the one held") {
  const auto cache = plan_policy("fixed:capacity=8", geometry("gs", 8));
  const Tokens held = ids(5), too_long = ids(10, 7), wanted = ids(5, 7);
  cache->admit({0, held});
  cache->finish();
  CHECK(cache->admit({0, too_long, 1, -1, 0}).action == Action::exceeded);
  // Shares all it has with the list admitted last, and nothing with the slot.
  const Admission admission = cache->admit({0, wanted, 1, -1, 5});
  CHECK(admission.common_prefix == 0);
  CHECK(admission.reused == 0);
}
