#include "workloads/expect_reader.hpp"

#include "workloads/expansion.hpp"
#include "workloads/fields.hpp"
#include "workloads/yaml/source_text.hpp"

#include <algorithm>

namespace kvreplay::workloads {
namespace {

using yaml::NodeRef;
using yaml::shown;

constexpr std::string_view expect_keys[] = {
    "evals", "sampled",    "appended", "rewinds",           "rewound", "drafted",      "accepted", "forks",
    "final", "max_length", "min_fed",  "min_fed_unlimited", "max_fed", "ledger_crc32", "check",    "observed"};

using GivenCount = std::optional<Given<Count>>;

// Each count key with the fact it must equal.
struct CountKey {
  std::string_view key;
  GivenCount Expect::* given;
  Count Facts::* fact;
};
constexpr CountKey count_keys[] = {
    {"evals", &Expect::evals, &Facts::evaluations},
    {"sampled", &Expect::sampled, &Facts::sampled},
    {"appended", &Expect::appended, &Facts::appended},
    {"rewinds", &Expect::rewinds, &Facts::rewinds},
    {"rewound", &Expect::rewound, &Facts::rewound},
    {"drafted", &Expect::drafted, &Facts::drafted},
    {"accepted", &Expect::accepted, &Facts::accepted},
    {"forks", &Expect::forks, &Facts::forks},
    {"max_length", &Expect::max_length, &Facts::max_length},
    {"min_fed", &Expect::min_fed, &Facts::tokens_floor_single},
    {"min_fed_unlimited", &Expect::min_fed_unlimited, &Facts::tokens_floor_multi},
    {"max_fed", &Expect::max_fed, &Facts::tokens_requested},
};

std::vector<std::pair<std::string, Given<Count>>> read_counts_by_sequence(NodeRef node, Count max,
                                                                          const Workload& workload) {
  std::vector<std::pair<std::string, Given<Count>>> counts;
  const std::vector<std::string>& names = workload.sequence_names;
  std::vector<std::string> sorted(names);
  std::sort(sorted.begin(), sorted.end());
  for (const Entry& entry : entries_of(node, "sequences")) {
    const std::string name(entry.key.text());
    if (!std::binary_search(sorted.begin(), sorted.end(), name)) {
      throw entry.key.fault("no sequence is called " + shown(name), name, names);
    }
    counts.push_back({name, {read_count(entry.value, 0, max), entry.value.mark()}});
  }
  return counts;
}

void read_check(NodeRef node, Expect& expect) {
  static constexpr std::string_view keys[] = {"logits", "tolerance"};
  const MapFields fields(node, keys);
  if (const auto tolerance = fields.optional("tolerance")) {
    expect.check_tolerance = read_number(*tolerance, 0);
    if (*expect.check_tolerance == 0)
      throw tolerance->fault("expected a tolerance above 0, found " + tolerance->description());
  }
  const auto logits = fields.optional("logits");
  if (!logits) return;
  std::vector<Count> ordinals;
  const auto is_all = [](NodeRef item) { return item.is_scalar() && item.text() == "all"; };
  if (!is_all(*logits)) {
    const std::vector<NodeRef> items = items_of(*logits, "evaluation ordinals, or [all]");
    if (items.empty()) throw logits->fault("expected [all] or at least one evaluation ordinal");
    const bool all = items.size() == 1 && is_all(items[0]);
    for (const NodeRef item : items) {
      if (!all) ordinals.push_back(read_count(item, 0));
    }
  }
  expect.check_logits = std::move(ordinals);
}

Observed read_observed(NodeRef node) {
  static constexpr std::string_view keys[] = {"engine",        "policy", "fed",        "allocations",
                                              "reallocations", "resets", "crops",      "peak_bytes",
                                              "bytes_at_end",  "then",   "then_wanted"};
  const MapFields fields(node, keys);
  Observed observed;
  observed.mark = node.mark();
  observed.engine = read_text(fields.required("engine", "the engine's name and version"));
  observed.policy = read_text(fields.required("policy", "the --policy text that stands for the engine"));
  const std::pair<std::string_view, std::optional<Count> Observed::*> counts[] = {
      {"fed", &Observed::fed},
      {"allocations", &Observed::allocations},
      {"reallocations", &Observed::reallocations},
      {"resets", &Observed::resets},
      {"crops", &Observed::crops},
      {"peak_bytes", &Observed::peak_bytes},
      {"bytes_at_end", &Observed::bytes_at_end}};
  for (const auto& [key, member] : counts) {
    if (const auto value = fields.optional(key)) observed.*member = read_count(*value, 0);
  }
  if (const auto then = fields.optional("then")) observed.then = read_long_text(*then);
  if (const auto wanted = fields.optional("then_wanted")) {
    static constexpr std::string_view wanted_keys[] = {"keep", "length"};
    const MapFields wanted_fields(*wanted, wanted_keys);
    observed.then_keep = read_count(wanted_fields.required("keep", "the tokens to be kept"), 0);
    observed.then_length = read_count(wanted_fields.required("length", "the length of the list wanted"), 0);
  }
  return observed;
}

[[noreturn]] void fail_expectation(NodeRef value, Count given, Count found) {
  throw value.fault("the file says " + std::to_string(given) + ", but its events give " + std::to_string(found));
}

template <typename Found>
void check_by_sequence(NodeRef node, const std::map<std::string, Found>& found) {
  for (const Entry& entry : entries_of(node, "sequences")) {
    const Count given = read_count(entry.value, 0);
    const Count actual = static_cast<Count>(found.at(std::string(entry.key.text())));
    if (given != actual) fail_expectation(entry.value, given, actual);
  }
}

}  // namespace

void read_expect(NodeRef node, Workload& workload) {
  const MapFields fields(node, expect_keys);
  Expect& expect = workload.expect;
  for (const CountKey& key : count_keys) {
    if (const auto value = fields.optional(key.key)) expect.*key.given = {read_count(*value, 0), value->mark()};
  }
  if (const auto lengths = fields.optional("final")) {
    expect.final_length = read_counts_by_sequence(*lengths, any_count, workload);
  }
  if (const auto checksums = fields.optional("ledger_crc32")) {
    expect.ledger_crc32 = read_counts_by_sequence(*checksums, 0xFFFFFFFF, workload);
  }
  if (const auto check = fields.optional("check")) read_check(*check, expect);
  if (const auto observed = fields.optional("observed")) {
    for (const NodeRef item : items_of(*observed, "observations")) expect.observed.push_back(read_observed(item));
  }
}

void check_expect(NodeRef node, const Workload& workload) {
  const MapFields fields(node, expect_keys);
  const Expect& expect = workload.expect;
  const FactsWanted wanted{expect.min_fed || expect.min_fed_unlimited, !expect.ledger_crc32.empty()};
  const Facts facts = facts_of(workload, wanted);
  for (const CountKey& key : count_keys) {
    const GivenCount& given = expect.*key.given;
    if (given && given->value != facts.*key.fact) {
      fail_expectation(*fields.optional(key.key), given->value, facts.*key.fact);
    }
  }
  if (const auto lengths = fields.optional("final")) check_by_sequence(*lengths, facts.final_length);
  if (const auto checksums = fields.optional("ledger_crc32")) check_by_sequence(*checksums, facts.ledger_crc32);
  if (!expect.check_logits) return;
  for (const Count ordinal : *expect.check_logits) {
    if (ordinal < facts.evaluations) continue;
    throw fields.optional("check")->fault("logits names evaluation " + std::to_string(ordinal) + ", but there are " +
                                          std::to_string(facts.evaluations) + ", counted from 0");
  }
}

}  // namespace kvreplay::workloads
