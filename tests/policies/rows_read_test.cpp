// How many rows attention reads while a list grows.
#include "tests/catch.hpp"
#include "tests/policies/support.hpp"

using namespace kvreplay::policies;
using namespace kvreplay::policies::testing;

namespace {

// A first call of P tokens, then N single tokens.
struct Scenario {
  Count first = 37, steps = 1000, window = 256;
};

// Rows attention reads in a layer of each kind over the growth, with real buffers.
PerKind rows_read(const std::string& spec, Scenario scenario) {
  PolicySetup setup;
  setup.geometry = geometry("gs", scenario.window);
  setup.buffers = true;
  const auto cache = policy(spec, setup);
  Caller caller(*cache);
  PerKind total;
  const Count length = scenario.first + scenario.steps;
  const Tokens all = ids(length);
  const std::vector<float> zeros(static_cast<std::size_t>(length * 8), 0.0f);
  for (Count held = scenario.first; held <= length; ++held) {
    const Tokens tokens = prefix(all, held);
    const Admission admission = cache->admit(caller.request(tokens, 0, 1));
    const Count step = admission.piece_tokens > 0 ? admission.piece_tokens : held;
    for (Count first = admission.reused; first < held; first += step) {
      const FreshRows fresh{first, std::min(step, held - first), zeros.data(), zeros.data()};
      for (const LayerKind kind : layer_kinds) {
        const Count layer = kind == LayerKind::global ? 0 : 1;
        for (const KvRun& run : cache->rows(layer, fresh).runs) total[kind] += run.count;
        cache->store(layer, fresh);
      }
    }
    cache->finish();
    caller.remember(tokens, admission);
  }
  return total;
}

}  // namespace

TEST_CASE("Rows that attention reads") {
  const Scenario scenario;
  CHECK(rows_read("doubling", scenario) == PerKind{537'537, 232'588});
  CHECK(rows_read("doubling:attend=capacity", scenario) == PerKind{774'527, 241'483});
  CHECK(rows_read("discard", {37, 200, 256}) == rows_read("discard:attend=capacity", {37, 200, 256}));
}

TEST_CASE("discard reads the same rows with both kinds of attention") {
  const Scenario scenario;
  CHECK(rows_read("discard", scenario) == PerKind{537'537, 537'537});
  CHECK(rows_read("discard:attend=capacity", scenario) == PerKind{537'537, 537'537});
}
