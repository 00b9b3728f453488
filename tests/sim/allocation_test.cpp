// Decoding takes no memory once lists of that length were held: every allocation of this program is counted, those of
// Eigen's buffers included.

#include "tests/catch.hpp"

#include "policies/registry.hpp"
#include "sim/decoder_stack.hpp"
#include "sim/weights.hpp"
#include "tests/sim/model_config_fixtures.hpp"
#include "tests/sim/stack_fixtures.hpp"

#include <atomic>
#include <cstddef>
#include <new>
#include <numeric>

namespace {

std::atomic<long> num_allocations = 0;

}  // namespace

// The linker leads this program's calls of malloc, posix_memalign and operator new here (tests/CMakeLists.txt); memory
// is still taken and given back by whoever does it otherwise, a sanitizer for example.
extern "C" {
void* __real_malloc(std::size_t size);
int __real_posix_memalign(void** memory, std::size_t alignment, std::size_t size);
void* __real__Znwm(std::size_t size);
void* __real__ZnwmSt11align_val_t(std::size_t size, std::align_val_t alignment);
void* __wrap_malloc(std::size_t size);
int __wrap_posix_memalign(void** memory, std::size_t alignment, std::size_t size);
void* __wrap__Znwm(std::size_t size);
void* __wrap__ZnwmSt11align_val_t(std::size_t size, std::align_val_t alignment);

void* __wrap_malloc(std::size_t size) {
  ++num_allocations;
  return __real_malloc(size);
}

int __wrap_posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  ++num_allocations;
  return __real_posix_memalign(memory, alignment, size);
}

void* __wrap__Znwm(std::size_t size) {
  ++num_allocations;
  return __real__Znwm(size);
}

void* __wrap__ZnwmSt11align_val_t(std::size_t size, std::align_val_t alignment) {
  ++num_allocations;
  return __real__ZnwmSt11align_val_t(size, alignment);
}
}

namespace kvreplay::sim {
namespace {

using namespace fixtures;

// Allocations of `steps` tokens that are appended one by one after the list was that long before and was cut back.
long allocations_while_decoding(DecoderStack& stack, const std::string& policy, std::size_t prompt, std::size_t steps) {
  const auto cache =
      policies::make_policy(policies::parse_policy(policy), {.geometry = stack.config().geometry(), .buffers = true});
  std::vector<policies::TokenId> tokens(prompt + steps);
  std::iota(tokens.begin(), tokens.end(), 1U);
  std::size_t held = 0;
  const auto feed = [&](std::size_t length) {
    const std::span<const policies::TokenId> list(tokens.data(), length);
    const policies::Admission admission =
        cache->admit({.sequence = 0, .tokens = list, .unchanged_prefix = static_cast<Count>(held)});
    (void)stack.evaluate(list.subspan(static_cast<std::size_t>(admission.reused)), admission.reused, 0, 1, *cache);
    cache->finish();
    held = length;
  };
  feed(prompt);
  for (std::size_t length = prompt + 1; length <= prompt + steps; ++length) feed(length);
  held = prompt;
  cache->truncate(0, static_cast<Count>(prompt));
  feed(prompt + 1);  // a ring that can not go back starts again
  const long before = num_allocations;
  for (std::size_t length = prompt + 2; length <= prompt + steps; ++length) feed(length);
  return num_allocations - before;
}

}  // namespace

TEST_CASE("allocations are counted") {
  const long before = num_allocations;
  const FloatBuffer eigens(100);
  const std::vector<int> ours(100);
  const void* volatile seen = eigens.data();  // compilers may leave out memory that nobody sees
  seen = ours.data();
  const long counted = num_allocations - before;
  CHECK(counted == 2);
  CHECK(seen != nullptr);
}

TEST_CASE("decoding allocates nothing, in no kind of kernels and neither kind of cache element") {
  const KernelChoice kernels = each_kernels();
  for (const std::string dtype : {"fp32", "bf16"}) {
    DecoderStack stack(resolve("toy:dtype=" + dtype), kernels);
    INFO(name_of(kernels) << ", " << dtype);
    CHECK(allocations_while_decoding(stack, "fixed:capacity=64", 5, 50) == 0);
    CHECK(allocations_while_decoding(stack, "fixed:capacity=64,sliding=window", 5, 50) == 0);
  }
}

}  // namespace kvreplay::sim
