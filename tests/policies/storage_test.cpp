// Real buffers: element types, allocation failures, and what is really taken and given back.
#include "policies/bf16.hpp"
#include "tests/catch.hpp"
#include "tests/policies/support.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>

using namespace kvreplay::policies;
using namespace kvreplay::policies::testing;

namespace {

constexpr Count never = std::numeric_limits<Count>::max();
Count allocations_left = never;  // aligned ones, which is what tensors take

class FailAfter {
 public:
  explicit FailAfter(Count allocations) { allocations_left = allocations; }
  ~FailAfter() { allocations_left = never; }
};

float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }

PolicySetup buffered(const CacheGeometry& shape) {
  PolicySetup setup;
  setup.geometry = shape;
  setup.buffers = true;
  setup.poison_unused = true;
  return setup;
}

}  // namespace

// The fault-injecting allocator of this program.
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  if (allocations_left <= 0) throw std::bad_alloc();
  if (allocations_left != never) --allocations_left;
  const std::size_t align = static_cast<std::size_t>(alignment);
  void* memory = std::aligned_alloc(align, (bytes + align - 1) / align * align);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}

TEST_CASE("bfloat16 rounds to nearest even and keeps what is no number") {
  CHECK(to_bf16(0.2691408770292272f) == 0x3E8A);
  CHECK(from_bf16(0x3E8A) == 0.26953125f);
  CHECK(std::isnan(from_bf16(to_bf16(float_of(0x7F800001)))));
  CHECK(to_bf16(float_of(0x7F800001)) == 0x7FC0);
  CHECK(to_bf16(float_of(0x3F808000)) == 0x3F80);  // ties
  CHECK(to_bf16(float_of(0x3F818000)) == 0x3F82);
  CHECK(to_bf16(float_of(0x7F7FFFFF)) == 0x7F80);  // too large: infinite
  CHECK(to_bf16(float_of(0x00000001)) == 0x0000);
  CHECK(to_bf16(float_of(0x80000000)) == 0x8000);
  CHECK(to_bf16(float_of(0xFFFFFFFF)) != 0x0000);
  CHECK(std::isnan(from_bf16(to_bf16(float_of(0xFFFFFFFF)))));
}

TEST_CASE("Every bfloat16 survives the way to float and back") {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const Bf16 value = static_cast<Bf16>(bits);
    if (std::isnan(from_bf16(value)))
      REQUIRE(std::isnan(from_bf16(to_bf16(from_bf16(value)))));
    else
      REQUIRE(to_bf16(from_bf16(value)) == value);
  }
}

TEST_CASE("A failed allocation of any tensor leaves the counters as they were") {
  const CacheGeometry shape = geometry("sgs", 8);
  for (const std::string spec :
       {"discard", "crop", "crop:hold_old=false", "doubling:hold_old=false", "reset", "crop:sliding=window",
        "guidance-0.2+transformers-4.47", "guidance-0.3+transformers-4.57"}) {
    for (Count tensor = 0; tensor < 6; ++tensor) {
      INFO(spec << " tensor " << tensor);
      const auto cache = policy(spec, buffered(shape));
      Caller caller(*cache);
      caller.call(ids(5));
      const MemoryCounters before = cache->ledger().counters();
      {
        const FailAfter fault(tensor);
        REQUIRE_THROWS_AS(cache->admit(caller.request(ids(6), 0, 1)), std::bad_alloc);
      }
      REQUIRE(cache->ledger().counters() == before);
      REQUIRE(cache->buffer_bytes().now <= before.reserved_bytes.total());
    }
  }
}

TEST_CASE("While old storage is held a failed allocation loses nothing") {
  const CacheGeometry shape = geometry("sg", 8);
  for (const std::string spec : {"discard", "crop", "doubling"}) {
    INFO(spec);
    const auto cache = policy(spec, buffered(shape));
    Caller caller(*cache);
    const Tokens five = ids(5), six = ids(6);
    Admission admission = cache->admit(caller.request(five, 0, 1));
    feed(*cache, five, admission, shape);
    cache->finish();
    caller.remember(five, admission);
    {
      const FailAfter fault(2);
      REQUIRE_THROWS_AS(cache->admit(caller.request(six, 0, 1)), std::bad_alloc);
    }
    CHECK(cache->buffer_bytes().now == cache->ledger().counters().reserved_bytes.total());
    admission = cache->admit(caller.request(six, 0, 1));
    CHECK(feed(*cache, six, admission, shape).as_cold);
    cache->finish();
  }
}

TEST_CASE("A failed first allocation can be tried again") {
  const CacheGeometry shape = geometry("sg", 8);
  const auto cache = policy("fixed:capacity=16", buffered(shape));
  {
    const FailAfter fault(3);
    CHECK_THROWS_AS(cache->admit({0, ids(5)}), std::bad_alloc);
  }
  CHECK(cache->buffer_bytes().now == 0);
  CHECK(cache->ledger().counters() == MemoryCounters{});
  const Tokens tokens = ids(5);
  const Admission admission = cache->admit({0, tokens});
  CHECK(admission.action == Action::first);
  CHECK(feed(*cache, tokens, admission, shape).as_cold);
}

TEST_CASE("Buffers hold exactly the counted bytes while a list grows and after it") {
  const CacheGeometry shape = geometry("sgs", 8, ElementType::bf16);
  const auto cache = policy("doubling", buffered(shape));
  Caller caller(*cache);
  for (Count length = 3; length <= 40; ++length) {
    cache->admit(caller.request(ids(length), 0, 1));
    const MemoryCounters& counters = cache->ledger().counters();
    REQUIRE(cache->buffer_bytes().now == counters.reserved_bytes.total() + counters.held_old_bytes.total());
    cache->finish();
    REQUIRE(cache->buffer_bytes().now == counters.reserved_bytes.total());
  }
  CHECK(cache->buffer_bytes().peak == cache->ledger().counters().transient_bytes_peak.total());
}

TEST_CASE("A slot without a token holds zeros, or no number where tests ask for poison") {
  const CacheGeometry shape = geometry("g", 8);
  // Key elements of slots 3..7 after three tokens in eight slots.
  const auto spare = [&](const std::string& options, bool poison) {
    PolicySetup setup = buffered(shape);
    setup.poison_unused = poison;
    const auto cache = policy("fixed:capacity=8,write=before" + options, setup);
    const Tokens tokens = ids(3);
    cache->admit({0, tokens});
    const Piece fresh = piece(markers(tokens, 0), 0, 3, shape);
    const KvRun run = cache->rows(0, fresh.rows).runs.front();
    const float* keys = static_cast<const float*>(run.keys);
    cache->finish();
    return std::vector<float>(keys + 3 * run.row_stride, keys + 8 * run.row_stride);
  };
  const auto all_nan = [](const std::vector<float>& values) {
    return std::all_of(values.begin(), values.end(), [](float value) { return std::isnan(value); });
  };
  const std::vector<float> zeros(20, 0.0f);
  CHECK(spare("", false) == zeros);
  CHECK(all_nan(spare("", true)));
  CHECK(spare(",attend=capacity", true) == zeros);
}

TEST_CASE("Rows dropped by a crop and rows behind a trimmed window are poisoned") {
  const CacheGeometry shape = geometry("s", 4);
  const auto cache = policy("crop:sliding=window", buffered(shape));
  const Tokens tokens = ids(3);
  const Admission admission = cache->admit({0, tokens});
  feed(*cache, tokens, admission, shape);
  cache->finish();
  // Three rows are the window's W - 1; a fourth token makes four slots, of which the view keeps the last three.
  const Tokens longer = ids(4);
  cache->admit({0, longer, 1, -1, 3});
  const Piece fresh = piece(markers(longer, 0), 3, 1, shape);
  const KvRun cached = cache->rows(0, fresh.rows).runs.front();
  const float* keys = static_cast<const float*>(cached.keys);
  CHECK(cached.count == 3);
  CHECK(keys[0] == markers(longer, 0)[0].values[0]);
  cache->store(0, fresh.rows);
  cache->finish();
  CHECK(std::isnan(keys[0]));
  CHECK(keys[cached.row_stride] == markers(longer, 0)[1].values[0]);
  CHECK(cache->truncate(0, 0));
  for (Count slot = 0; slot < 4; ++slot) CHECK(std::isnan(keys[slot * cached.row_stride]));
}
