#include "policies/options.hpp"

#include "policies/option_error.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace kvreplay::policies {
namespace {

// Decimal digits without sign or leading zero, 1..largest_option.
std::optional<Count> parse_number(std::string_view text) {
  if (text.empty() || text.front() < '1' || text.front() > '9') return std::nullopt;
  Count number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number > largest_option) return std::nullopt;
  return number;
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

void check_value(const std::string& policy, const PolicyOption& option, const std::string& text) {
  const std::string subject = option.key + " of policy " + policy;
  if (option.choices.empty()) {
    if (text == option.default_value || parse_number(text)) return;
    throw OptionError(subject + " must be a decimal whole number from 1 to " + std::to_string(largest_option) +
                          " without sign or leading zeros, not " + quoted(text),
                      text);
  }
  if (std::find(option.choices.begin(), option.choices.end(), text) != option.choices.end()) return;
  std::string choices;
  for (const std::string& choice : option.choices) choices += (choices.empty() ? "" : ", ") + choice;
  throw OptionError(subject + " must be one of " + choices + ", not " + quoted(text), text, option.choices);
}

bool known_to_another_policy(std::string_view key) {
  for (const PolicyEntry& entry : policy_table()) {
    for (const PolicyOption& option : entry.options) {
      if (option.key == key) return true;
    }
  }
  return false;
}

[[noreturn]] void throw_unknown_key(const std::string& policy, std::span<const PolicyOption> options,
                                    const std::string& key) {
  std::vector<std::string> candidates;
  for (const PolicyOption& option : options) candidates.push_back(option.key);
  const std::string problem = known_to_another_policy(key)
                                  ? "option " + quoted(key) + " is not valid for policy " + policy
                                  : "policy " + policy + " has no option " + quoted(key);
  throw OptionError(problem, key, std::move(candidates));
}

}  // namespace

OptionValues::OptionValues(std::string_view policy, std::span<const PolicyOption> options,
                           std::span<const std::pair<std::string, std::string>> given) {
  const std::string name(policy);
  for (const PolicyOption& option : options) values_.push_back({&option, option.default_value});
  for (const auto& [key, text] : given) {
    const std::string& wanted = key;
    const auto found = std::find_if(values_.begin(), values_.end(),
                                    [&wanted](const Value& candidate) { return candidate.option->key == wanted; });
    if (found == values_.end()) throw_unknown_key(name, options, key);
    if (found->given) throw OptionError("option " + quoted(key) + " of policy " + name + " is given twice", key);
    check_value(name, *found->option, text);
    found->text = text;
    found->given = true;
  }
}

const OptionValues::Value& OptionValues::value(std::string_view key) const {
  const auto found = std::find_if(values_.begin(), values_.end(),
                                  [key](const Value& candidate) { return candidate.option->key == key; });
  if (found == values_.end()) throw std::logic_error("a policy asked for an option its row does not list");
  return *found;
}

const std::string& OptionValues::text(std::string_view key) const { return value(key).text; }

bool OptionValues::given(std::string_view key) const { return value(key).given; }

std::optional<Count> OptionValues::number(std::string_view key) const { return parse_number(text(key)); }

Knobs OptionValues::knobs() const {
  return {is("keep", "seed") ? KeepRule::seed : KeepRule::exact, is("hold_old", "true"), is("sliding", "window"),
          is("write", "before"), is("attend", "capacity")};
}

}  // namespace kvreplay::policies
