// doubling: an overflow takes new, zeroed storage of twice the wanted length and copies nothing; a rewind is a reset.
// guidance-ai/guidance pull request 1047 (aaa5f00f) on Hugging Face's StaticCache and HybridCache.
#include "policies/rules.hpp"

namespace kvreplay::policies {
namespace {

class Doubling final : public SlotRules {
 public:
  explicit Doubling(Count largest_capacity) : largest_capacity_(largest_capacity) {}

  Decision on_first(Count length) const override { return Decision::new_storage(Action::first, length); }
  Decision on_overflow(const Situation& situation) const override {
    const Count wanted = std::min(2 * situation.length, largest_capacity_);
    return Decision::new_storage(Action::grow, std::max(wanted, situation.length));
  }
  Decision on_rewind(const Situation& /*situation*/) const override { return Decision::zero_in_place(); }

 private:
  Count largest_capacity_;
};

}  // namespace

std::unique_ptr<SlotRules> doubling_rules(const OptionValues& options, const CacheGeometry& geometry) {
  const bool clamp = options.is("clamp", "true");
  return std::make_unique<Doubling>(clamp ? geometry.max_positions : std::numeric_limits<Count>::max());
}

}  // namespace kvreplay::policies
