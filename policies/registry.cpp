#include "policies/registry.hpp"

#include "policies/option_error.hpp"
#include "policies/presets.hpp"
#include "policies/rules.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace kvreplay::policies {

// A new single-slot policy: its name_rules here, its row in the table below.
MakeRules discard_rules, crop_rules, reset_rules, doubling_rules, fixed_rules;
void check_reset_options(const OptionValues& options);

namespace {

using MakePreset = std::unique_ptr<CachePolicy>(const PolicySetup& setup);
using CheckOptions = void(const OptionValues& options);

// What a row does beside what it shows. Exactly one of the first two is set.
struct Maker {
  MakeRules* rules = nullptr;
  MakePreset* preset = nullptr;
  CheckOptions* check = nullptr;  // rules between options
};

struct Row {
  PolicyEntry entry;
  Maker maker;
};

// The knobs of every single-slot policy, then the policy's own options.
std::vector<PolicyOption> options_of(const char* sliding_default, std::vector<PolicyOption> own = {}) {
  std::vector<PolicyOption> options{
      {"keep", "exact", {"exact", "seed"}, "prefix kept on a rewind: all of it, or one token less (guidance's seed)"},
      {"hold_old", "true", {"true", "false"}, "replaced storage lives until the evaluation ends; changes peaks only"},
      {"sliding", sliding_default, {"window", "full"}, "rows a sliding layer stores: its window, or every row"},
      {"write", "after", {"after", "before"}, "rows are stored after attention, or before it (which reads them there)"},
      {"attend", "live", {"live", "capacity"}, "slots attention reads: those with a token, or all of them"},
  };
  options.insert(options.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
  return options;
}

const PolicyOption capacity_option{"capacity", "max_positions", {}, "slots taken at the first admission"};

const std::vector<Row>& rows() {
  static const std::vector<Row> table{
      {{"discard", "drops everything and takes exactly what is wanted, unless the list simply ends as held",
        options_of("window")},
       {discard_rules}},
      {{"crop", "concatenates: every append copies the kept rows into new, exactly fitting storage",
        options_of("full")},
       {crop_rules}},
      {{"reset", "zeroes its storage on a rewind and evaluates everything again",
        options_of(
            "window",
            {{"overflow", "discard", {"discard", "doubling", "fixed"}, "what a list longer than the storage does"},
             capacity_option})},
       {reset_rules, nullptr, check_reset_options}},
      {{"doubling", "takes twice the wanted length on overflow, copies nothing; zeroes on a rewind",
        options_of("window", {{"clamp", "false", {"true", "false"}, "never takes more than the model's maximum"}})},
       {doubling_rules}},
      {{"fixed", "takes all its slots at once and shortens its length on a rewind",
        options_of("full", {capacity_option})},
       {fixed_rules}},
      {{"guidance-0.2+transformers-4.47",
        "guidance 0.2 (pull request 1047) on Hugging Face's HybridCache, faults included",
        {},
        true},
       {nullptr, make_guidance_0_2}},
      {{"guidance-0.3+transformers-4.57",
        "guidance 0.3 on Hugging Face's DynamicCache, which can not crop a full window",
        {},
        true},
       {nullptr, make_guidance_0_3}},
  };
  return table;
}

const Row& row_of(std::string_view name) {
  for (const Row& row : rows()) {
    if (row.entry.name == name) return row;
  }
  std::vector<std::string> names;
  for (const Row& row : rows()) names.push_back(row.entry.name);
  throw OptionError("unknown policy '" + std::string(name) + "'", std::string(name), std::move(names));
}

void check_geometry(const CacheGeometry& geometry) {
  if (geometry.num_layers() < 1 || geometry.num_kv_heads < 1 || geometry.head_dim < 1 || geometry.sliding_window < 1 ||
      geometry.max_positions < 1)
    throw OptionError("a cache needs at least one layer, KV head, head dimension, window row and position");
}

}  // namespace

std::span<const PolicyEntry> policy_table() {
  static const std::vector<PolicyEntry> entries = [] {
    std::vector<PolicyEntry> all;
    for (const Row& row : rows()) all.push_back(row.entry);
    return all;
  }();
  return entries;
}

std::vector<std::string> seed_policies() { return {"discard", "crop", "reset", "doubling", "fixed"}; }

PolicySpec parse_policy(std::string_view text) {
  PolicySpec spec;
  spec.text = text;
  const std::size_t colon = text.find(':');
  spec.name = text.substr(0, colon);
  const Row& row = row_of(spec.name);
  if (colon != std::string_view::npos) {
    std::string_view rest = text.substr(colon + 1);
    while (true) {
      const std::string_view item = rest.substr(0, rest.find(','));
      const std::size_t equals = item.find('=');
      if (equals == 0 || equals == std::string_view::npos)
        throw OptionError("'" + spec.text + "': expected key=value instead of '" + std::string(item) + "'");
      spec.options.emplace_back(item.substr(0, equals), item.substr(equals + 1));
      if (item.size() == rest.size()) break;
      rest.remove_prefix(item.size() + 1);
    }
  }
  const OptionValues values(spec.name, row.entry.options, spec.options);
  if (row.maker.check != nullptr) row.maker.check(values);
  return spec;
}

std::unique_ptr<CachePolicy> make_policy(const PolicySpec& spec, const PolicySetup& setup) {
  const Row& row = row_of(spec.name);
  check_geometry(setup.geometry);
  const OptionValues values(spec.name, row.entry.options, spec.options);
  if (row.maker.check != nullptr) row.maker.check(values);
  if (row.maker.preset != nullptr) return row.maker.preset(setup);
  return make_single_slot(setup, values.knobs(), row.maker.rules(values, setup.geometry));
}

}  // namespace kvreplay::policies
