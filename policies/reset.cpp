// reset: a rewind zeroes the storage in place and evaluates everything; what an overflow does is an option.
// Hugging Face's static caches as guidance used them at aaa5f00f.
#include "policies/rules.hpp"

#include "policies/option_error.hpp"

namespace kvreplay::policies {
namespace {

enum class Overflow : std::uint8_t { discard, doubling, fixed };

class Reset final : public SlotRules {
 public:
  Reset(Overflow overflow, Count capacity) : overflow_(overflow), capacity_(capacity) {}

  Decision on_first(Count length) const override {
    if (overflow_ != Overflow::fixed) return Decision::new_storage(Action::first, length);
    return length > capacity_ ? Decision::stop(Action::exceeded, capacity_)
                              : Decision::new_storage(Action::first, capacity_);
  }
  Decision on_overflow(const Situation& situation) const override {
    if (overflow_ == Overflow::fixed) return Decision::stop(Action::exceeded);
    if (overflow_ == Overflow::doubling) return Decision::new_storage(Action::grow, 2 * situation.length);
    return Decision::new_storage(Action::discard, situation.length);
  }
  Decision on_rewind(const Situation& /*situation*/) const override { return Decision::zero_in_place(); }

 private:
  Overflow overflow_;
  Count capacity_;
};

}  // namespace

std::unique_ptr<SlotRules> reset_rules(const OptionValues& options, const CacheGeometry& geometry) {
  const Overflow overflow = options.is("overflow", "fixed")      ? Overflow::fixed
                            : options.is("overflow", "doubling") ? Overflow::doubling
                                                                 : Overflow::discard;
  return std::make_unique<Reset>(overflow, options.number("capacity").value_or(geometry.max_positions));
}

void check_reset_options(const OptionValues& options) {
  if (options.given("capacity") && !options.is("overflow", "fixed"))
    throw OptionError("option 'capacity' of policy reset needs overflow=fixed", "capacity");
}

}  // namespace kvreplay::policies
