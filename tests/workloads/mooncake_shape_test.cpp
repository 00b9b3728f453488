#include "workloads/synthetic/mooncake_shape.hpp"
#include "tests/catch.hpp"
#include "workloads/expansion.hpp"

#include <algorithm>

using namespace kvreplay::workloads;

namespace {

Count tokens_of(const TokenSpans& spans) {
  Count sum = 0;
  for (const Slice& slice : spans) sum += slice.count;
  return sum;
}

}  // namespace

TEST_CASE("the generated trace has the trace's size and lengths") {
  // Facts of conversation_trace.jsonl: 12,031 requests, mean input 12,035 (median 6,909, longest 126,195), mean output
  // 343, 288,500 blocks of which 105,710 (37 %) were seen before, 38.7 % of the requests share more than the first.
  const Workload workload = mooncake_shape({});
  std::vector<Count> inputs, outputs;
  for (const Event& event : workload.events) {
    if (const auto* append = std::get_if<Append>(&event.what)) inputs.push_back(tokens_of(append->tokens));
    if (const auto* decode = std::get_if<Decode>(&event.what)) outputs.push_back(decode->n);
  }
  REQUIRE(inputs.size() == 12031);
  REQUIRE(outputs.size() == 12031);
  std::sort(inputs.begin(), inputs.end());
  const Facts facts = facts_of(workload, {true, false});
  const double mean_input = static_cast<double>(facts.appended) / 12031;
  CHECK(mean_input == Approx(12035).epsilon(0.25));
  CHECK(static_cast<double>(inputs[6015]) == Approx(6909).epsilon(0.25));
  CHECK(inputs.back() <= 126195);
  CHECK(static_cast<double>(facts.sampled) / 12031 == Approx(343).epsilon(0.05));
  CHECK(facts.max_length < 131072);
  // What the perfect tree need not feed is what requests share.
  const double shared =
      1 - static_cast<double>(facts.tokens_floor_multi - facts.sampled) / static_cast<double>(facts.appended);
  CHECK(shared == Approx(0.37).margin(0.08));
  CHECK(facts.evaluations == facts.sampled);
  CHECK(workload.sequence_names.size() == 12031);
}

TEST_CASE("the generated trace is the same for the same seed only") {
  const auto facts = [](std::uint64_t seed) { return facts_of(mooncake_shape({300, seed}), {true, true}); };
  CHECK(facts(1).ledger_crc32 == facts(1).ledger_crc32);
  CHECK(facts(1).ledger_crc32 != facts(2).ledger_crc32);
  CHECK(mooncake_shape({1, 1}).events.size() == 4);
}
