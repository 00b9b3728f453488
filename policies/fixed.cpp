// fixed: all slots are taken once; a rewind shortens the length, an overflow ends the run.
// gemma_pytorch, llama.cpp's n_ctx, Hugging Face's StaticCache with a generous maximum.
#include "policies/rules.hpp"

namespace kvreplay::policies {
namespace {

class Fixed final : public SlotRules {
 public:
  explicit Fixed(Count capacity) : capacity_(capacity) {}

  SlotTraits traits() const override {
    SlotTraits traits;
    traits.crops = true;
    return traits;
  }
  Decision on_first(Count length) const override {
    return length > capacity_ ? Decision::stop(Action::exceeded, capacity_)
                              : Decision::new_storage(Action::first, capacity_);
  }
  Decision on_overflow(const Situation& /*situation*/) const override { return Decision::stop(Action::exceeded); }
  Decision on_rewind(const Situation& situation) const override {
    return Decision::in_place(Action::crop, situation.window_passed ? 0 : situation.kept);
  }

 private:
  Count capacity_;
};

}  // namespace

std::unique_ptr<SlotRules> fixed_rules(const OptionValues& options, const CacheGeometry& geometry) {
  return std::make_unique<Fixed>(options.number("capacity").value_or(geometry.max_positions));
}

}  // namespace kvreplay::policies
