// crop: every append makes new storage of exactly the rows wanted and copies the kept ones; a rewind is a shorter view,
// copied by the same append. Hugging Face's DynamicCache, with sliding=window its layers that keep W - 1 rows (4.56+).
#include "policies/rules.hpp"

namespace kvreplay::policies {
namespace {

class Crop final : public SlotRules {
 public:
  SlotTraits traits() const override {
    SlotTraits traits;
    traits.bounded = false;
    traits.crops = true;
    traits.trims_window = true;
    return traits;
  }
  Decision on_first(Count length) const override { return Decision::exact_storage(Action::first, length); }
  Decision on_overflow(const Situation& situation) const override { return on_append(situation); }  // never asked
  Decision on_rewind(const Situation& situation) const override {
    if (situation.window_passed) return Decision::exact_storage(Action::discard, situation.length);
    return Decision::copied_storage(Action::crop, situation.length, situation.kept);
  }
  Decision on_append(const Situation& situation) const override {
    return Decision::copied_storage(Action::append, situation.length, situation.kept);
  }
};

}  // namespace

std::unique_ptr<SlotRules> crop_rules(const OptionValues& /*options*/, const CacheGeometry& /*geometry*/) {
  return std::make_unique<Crop>();
}

}  // namespace kvreplay::policies
