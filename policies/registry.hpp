// The table of cache policies: one policy = one .cpp + one row in registry.cpp + its test.
#pragma once

#include "policies/cache_policy.hpp"
#include "policies/pages.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kvreplay::policies {

// What every policy gets at birth, whatever its options.
struct PolicySetup {
  CacheGeometry geometry;
  bool buffers = false;                 // false: count only (plan); true: real K/V buffers (alloc, compute)
  Count memory_limit_bytes = 0;         // 0: no limit
  bool poison_unused = false;           // tests: fill every slot that must not be read with NaN
  PageChoice pages = PageChoice::huge;  // of large buffers
};

// One option a policy takes: `key=value`, its default and what it means.
struct PolicyOption {
  std::string key;
  std::string default_value;
  std::vector<std::string> choices;  // empty: a number
  std::string meaning;
};

// A policy specification `name:key=value,key=value` after parsing. `options` holds only what was given.
struct PolicySpec {
  std::string name;
  std::vector<std::pair<std::string, std::string>> options;
  std::string text;  // as given
};

struct PolicyEntry {
  std::string name;
  std::string summary;  // one line for `list policies`
  std::vector<PolicyOption> options;
  bool faithful = false;  // imitates an engine, faults included: may serve rows a cold run would not have
};

// All rows, in the order of the table; the five seed policies come first.
std::span<const PolicyEntry> policy_table();
// The names run by default: the five seed policies.
std::vector<std::string> seed_policies();

// Parses and checks a specification. Throws OptionError for an unknown name, key or value (also for a key that
// another policy has: "not valid for policy fixed"), a duplicate key or a malformed text.
PolicySpec parse_policy(std::string_view text);

// A fresh, empty policy. Throws OptionError where an option does not fit the geometry (capacity <= 0, ...).
std::unique_ptr<CachePolicy> make_policy(const PolicySpec& spec, const PolicySetup& setup);

}  // namespace kvreplay::policies
