#include "policies/registry.hpp"

#include "policies/option_error.hpp"
#include "tests/catch.hpp"
#include "tests/policies/support.hpp"

#include <algorithm>
#include <set>

using namespace kvreplay::policies;
using namespace kvreplay::policies::testing;

namespace {

OptionError error_of(const std::string& text) {
  try {
    parse_policy(text);
  } catch (const OptionError& error) {
    return error;
  }
  FAIL("accepted: '" << text << "'");
  return OptionError("");
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string default_of(const std::string& policy, const std::string& key) {
  for (const PolicyEntry& entry : policy_table()) {
    if (entry.name != policy) continue;
    for (const PolicyOption& option : entry.options) {
      if (option.key == key) return option.default_value;
    }
  }
  return "none";
}

}  // namespace

TEST_CASE("The table starts with the five seed policies and every row explains itself") {
  const std::vector<std::string> seeds{"discard", "crop", "reset", "doubling", "fixed"};
  CHECK(seed_policies() == seeds);
  std::set<std::string> names;
  for (std::size_t i = 0; i < policy_table().size(); ++i) {
    const PolicyEntry& entry = policy_table()[i];
    if (i < seeds.size()) CHECK(entry.name == seeds[i]);
    CHECK(names.insert(entry.name).second);
    CHECK_FALSE(entry.summary.empty());
    CHECK(parse_policy(entry.name).options.empty());
    std::set<std::string> keys;
    for (const PolicyOption& option : entry.options) {
      INFO(entry.name << " " << option.key);
      CHECK(keys.insert(option.key).second);
      CHECK_FALSE(option.meaning.empty());
      if (!option.choices.empty())
        CHECK(std::count(option.choices.begin(), option.choices.end(), option.default_value) == 1);
      if (entry.name == "reset" && option.key == "capacity") continue;  // needs overflow=fixed
      CHECK_NOTHROW(parse_policy(entry.name + ":" + option.key + "=" + option.default_value));
    }
  }
  CHECK(names.count("guidance-0.2+transformers-4.47"));
  CHECK(names.count("guidance-0.3+transformers-4.57"));
}

TEST_CASE("Defaults are those of the documented table") {
  for (const std::string& policy : seed_policies()) {
    CHECK(default_of(policy, "keep") == "exact");
    CHECK(default_of(policy, "hold_old") == "true");
    CHECK(default_of(policy, "write") == "after");
    CHECK(default_of(policy, "attend") == "live");
  }
  CHECK(default_of("discard", "sliding") == "window");
  CHECK(default_of("crop", "sliding") == "full");
  CHECK(default_of("reset", "sliding") == "window");
  CHECK(default_of("doubling", "sliding") == "window");
  CHECK(default_of("fixed", "sliding") == "full");
  CHECK(default_of("reset", "overflow") == "discard");
  CHECK(default_of("doubling", "clamp") == "false");
  CHECK(default_of("fixed", "capacity") == "max_positions");
}

TEST_CASE("A specification keeps what was given and nothing else") {
  const PolicySpec spec = parse_policy("fixed:capacity=64,keep=seed");
  CHECK(spec.name == "fixed");
  CHECK(spec.text == "fixed:capacity=64,keep=seed");
  using Options = std::vector<std::pair<std::string, std::string>>;
  CHECK(spec.options == Options{{"capacity", "64"}, {"keep", "seed"}});
  CHECK(parse_policy("guidance-0.2+transformers-4.47").name == "guidance-0.2+transformers-4.47");
}

TEST_CASE("An unknown policy names all there are") {
  for (const std::string text : {"", "doublin", "Discard", "guidance-0.2", " fixed", "fixed ", "off"}) {
    const OptionError error = error_of(text);
    CHECK(contains(error.what(), "unknown policy '" + text + "'"));
    CHECK(error.given == text);
    CHECK(error.candidates.size() == policy_table().size());
  }
}

TEST_CASE("An unknown key names the policy's own, a key of another policy says so") {
  const OptionError typo = error_of("fixed:capacty=4");
  CHECK(contains(typo.what(), "policy fixed has no option 'capacty'"));
  CHECK(typo.given == "capacty");
  CHECK(std::count(typo.candidates.begin(), typo.candidates.end(), "capacity") == 1);
  CHECK(contains(error_of("fixed:clamp=true").what(), "not valid for policy fixed"));
  CHECK(contains(error_of("discard:capacity=4").what(), "not valid for policy discard"));
  CHECK(contains(error_of("guidance-0.3+transformers-4.57:hold_old=true").what(),
                 "not valid for policy guidance-0.3+transformers-4.57"));
  CHECK(contains(error_of("reset:capacity=4").what(), "needs overflow=fixed"));
  CHECK_NOTHROW(parse_policy("reset:capacity=4,overflow=fixed"));
}

TEST_CASE("Malformed specifications are refused") {
  for (const std::string text :
       {"fixed:", "fixed:capacity", "fixed:=4", "fixed:capacity=4,", "fixed:,capacity=4", "fixed:capacity=4,,keep=seed",
        "fixed:keep=exact,keep=exact", "fixed:keep=", "fixed:keep=Seed", "fixed:keep=seed ", "crop:hold_old=yes",
        "crop:hold_old=1", "fixed:capacity=4:keep=seed", "fixed:keep=seed=seed"}) {
    INFO(text);
    error_of(text);
  }
  const OptionError choice = error_of("crop:sliding=windw");
  CHECK(choice.given == "windw");
  CHECK(choice.candidates == std::vector<std::string>{"window", "full"});
}

TEST_CASE("Numbers are plain decimals in their range") {
  for (const std::string text : {"", "0", "-1", "+5", "010", "08", "0x10", "0o10", "1e3", "1.5", " 16", "16 ", "4k",
                                 "1000000001", "99999999999999999999", "nan", "1_000", "1'000"}) {
    const OptionError error = error_of("fixed:capacity=" + text);
    INFO(error.what());
    CHECK(contains(error.what(), "from 1 to 1000000000"));
    CHECK(error.given == text);
  }
  CHECK_NOTHROW(parse_policy("fixed:capacity=1"));
  CHECK_NOTHROW(parse_policy("fixed:capacity=1000000000"));
}

TEST_CASE("A specification that never was parsed is checked all the same") {
  PolicySetup setup;
  setup.geometry = geometry("gs", 4);
  CHECK_THROWS_AS(make_policy({"fixed", {{"capacity", "0"}}, ""}, setup), OptionError);
  CHECK_THROWS_AS(make_policy({"reset", {{"capacity", "4"}}, ""}, setup), OptionError);
  CHECK_THROWS_AS(make_policy({"nothing", {}, ""}, setup), OptionError);
}

TEST_CASE("A geometry without layers, heads, window or positions is refused") {
  for (int fault = 0; fault < 5; ++fault) {
    PolicySetup setup;
    setup.geometry = geometry("gs", 4);
    if (fault == 0) setup.geometry.slides.clear();
    if (fault == 1) setup.geometry.num_kv_heads = 0;
    if (fault == 2) setup.geometry.head_dim = 0;
    if (fault == 3) setup.geometry.sliding_window = 0;
    if (fault == 4) setup.geometry.max_positions = 0;
    for (const PolicyEntry& entry : policy_table())
      CHECK_THROWS_AS(make_policy(parse_policy(entry.name), setup), OptionError);
  }
}
