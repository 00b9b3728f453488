// discard: whatever does not simply continue is thrown away, and storage of exactly the wanted length is taken.
// guidance at aaa5f00f for bounded caches with neither crop nor reset.
#include "policies/rules.hpp"

namespace kvreplay::policies {
namespace {

class Discard final : public SlotRules {
 public:
  Decision on_first(Count length) const override { return Decision::new_storage(Action::first, length); }
  Decision on_overflow(const Situation& situation) const override {
    return Decision::new_storage(Action::discard, situation.length);
  }
  Decision on_rewind(const Situation& situation) const override { return on_overflow(situation); }
};

}  // namespace

std::unique_ptr<SlotRules> discard_rules(const OptionValues& /*options*/, const CacheGeometry& /*geometry*/) {
  return std::make_unique<Discard>();
}

}  // namespace kvreplay::policies
