// guidance-0.3+transformers-4.57: guidance since 10a9fe84 on DynamicCache(config) of transformers 4.56 and later.
//
// A crop policy whose engine can not crop a sliding layer once it has seen W tokens: DynamicSlidingWindowLayer.crop
// raises ValueError before anything changes (layer 0 slides), and guidance lets it pass. torch.cat replaces tensor by
// tensor. get_max_cache_shape() answers for layer 0: W if it slides, else -1. Lists of max_positions tokens are refused
// by guidance itself. Checked against recordings of guidance 0.3.1 on transformers 4.57.6.
#include "policies/presets.hpp"
#include "policies/rules.hpp"

namespace kvreplay::policies {
namespace {

class Guidance03 final : public SlotRules {
 public:
  explicit Guidance03(const CacheGeometry& geometry)
      : window_(geometry.num_sliding_layers() > 0 ? geometry.sliding_window : std::numeric_limits<Count>::max()) {
    traits_.bounded = false;
    traits_.trims_window = true;
    traits_.longest = geometry.max_positions - 1;
    traits_.reported_capacity = !geometry.slides.empty() && geometry.slides.front() ? geometry.sliding_window : -1;
  }

  SlotTraits traits() const override { return traits_; }
  Decision on_first(Count length) const override { return Decision::exact_storage(Action::first, length); }
  Decision on_overflow(const Situation& situation) const override { return on_append(situation); }  // never asked
  Decision on_rewind(const Situation& situation) const override {
    if (situation.held >= window_) return Decision::stop(Action::refused);
    return Decision::copied_storage(Action::crop, situation.length, situation.kept);
  }
  Decision on_append(const Situation& situation) const override {
    return Decision::copied_storage(Action::append, situation.length, situation.kept);
  }

 private:
  Count window_;  // sliding layers that have seen this many tokens can not be cropped
  SlotTraits traits_;
};

}  // namespace

std::unique_ptr<CachePolicy> make_guidance_0_3(const PolicySetup& setup) {
  Knobs knobs;
  knobs.hold_old = false;
  knobs.sliding_window = true;
  return make_single_slot(setup, knobs, std::make_unique<Guidance03>(setup.geometry));
}

}  // namespace kvreplay::policies
