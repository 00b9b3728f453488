// Values of a policy's options: what was given, else the default of its row.
#pragma once

#include "policies/registry.hpp"
#include "policies/single_slot.hpp"

#include <optional>

namespace kvreplay::policies {

// Largest number an option takes: the longest ledger a workload may have.
inline constexpr Count largest_option = 1'000'000'000;

class OptionValues {
 public:
  // Throws OptionError for unknown or duplicate keys and for values that are no choice or out of range.
  OptionValues(std::string_view policy, std::span<const PolicyOption> options,
               std::span<const std::pair<std::string, std::string>> given);

  // The value of an option the policy has.
  const std::string& text(std::string_view key) const;
  bool is(std::string_view key, std::string_view value) const { return text(key) == value; }
  bool given(std::string_view key) const;

  // Number of a numeric option; none if it was left at (or set to the name of) its default.
  std::optional<Count> number(std::string_view key) const;

  // The options every single-slot policy has.
  Knobs knobs() const;

 private:
  struct Value {
    const PolicyOption* option;
    std::string text;
    bool given = false;
  };

  const Value& value(std::string_view key) const;

  std::vector<Value> values_;
};

}  // namespace kvreplay::policies
