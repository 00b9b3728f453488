#include "workloads/fields.hpp"
#include "workloads/suite.hpp"
#include "workloads/suite_paths.hpp"
#include "workloads/yaml/source_text.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <set>

namespace kvreplay::workloads {
namespace {

using yaml::NodeRef;
using yaml::shown;

constexpr std::string_view suite_format = "kv-suite/1";
constexpr std::string_view top_level_keys[] = {"format", "title", "workloads",   "policies",
                                               "model",  "depth", "repetitions", "budgets"};
constexpr std::string_view budget_keys[] = {"workload", "policy", "metric", "over", "against", "max", "min"};

// Places are put together here: asking each node of a long list for its path would take quadratic time.
PlacedText read_placed(NodeRef node, std::string place) { return {read_text(node), node.mark(), std::move(place)}; }

std::string item_place(std::string_view list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

// `inside`: the place of the map, with its dot, or empty.
std::optional<PlacedText> read_optional(const MapFields& fields, std::string_view key, const std::string& inside = "") {
  const auto node = fields.optional(key);
  return node ? std::optional(read_placed(*node, inside + std::string(key))) : std::nullopt;
}

// The items of a list of at most `most`.
std::vector<NodeRef> limited_items_of(NodeRef list, std::string_view what, std::size_t most) {
  std::vector<NodeRef> items = items_of(list, what);
  if (items.size() > most) {
    throw list.fault("more than " + std::to_string(most) + " " + std::string(what) + "; split the suite");
  }
  return items;
}

MapFields read_suite_top(const yaml::Document& document) {
  if (document.empty() || document.node(0).kind == yaml::NodeKind::null) {
    throw InputError(document.file(), {}, "", "no suite in the file: it is empty");
  }
  const NodeRef root(document, 0);
  if (root.is_map()) {
    for (const Entry& entry : entries_of(root, "keys")) {
      if (entry.key.text() != "format") continue;
      if (entry.value.is_scalar() && entry.value.text() == suite_format) break;
      throw entry.value.fault("expected the format kv-suite/1, found " + entry.value.description(), {},
                              {std::string(suite_format)});
    }
  }
  MapFields top(root, top_level_keys);
  top.required("format", suite_format);
  return top;
}

void read_workloads(NodeRef node, Suite& suite) {
  std::set<std::string> known_paths;
  for (const NodeRef item : limited_items_of(node, "paths of workload files", max_suite_workloads)) {
    const std::string pattern = read_text(item);
    const bool globs = is_glob(pattern);
    std::vector<SuiteWorkload> all_found = workloads_at(suite.path, pattern);
    if (all_found.empty()) {
      throw item.fault((globs ? "no file fits " : "there is no file ") + shown(pattern) +
                       "; paths are relative to the suite's folder");
    }
    for (SuiteWorkload& found : all_found) {
      const bool known = !known_paths.insert(found.path).second;
      if (known && !globs) throw item.fault(shown(pattern) + " is in the list twice");
      if (!known) suite.workloads.push_back(std::move(found));
    }
    if (suite.workloads.size() > max_suite_workloads) {
      throw item.fault("more than " + std::to_string(max_suite_workloads) + " workloads; split the suite");
    }
  }
  if (suite.workloads.empty()) throw node.fault("expected at least one workload");
}

void read_policies(NodeRef node, Suite& suite) {
  for (const NodeRef item : limited_items_of(node, "policies", max_suite_policies)) {
    PlacedText policy = read_placed(item, item_place("policies", suite.policies.size()));
    const auto same = [&](const PlacedText& other) { return other.text == policy.text; };
    if (std::any_of(suite.policies.begin(), suite.policies.end(), same)) {
      throw item.fault("policy " + shown(policy.text) + " is in the list twice");
    }
    suite.policies.push_back(std::move(policy));
  }
  if (suite.policies.empty()) throw node.fault("expected at least one policy, or no key 'policies' for the default");
}

void read_bounds(const MapFields& fields, SuiteBudget& budget) {
  const auto most = fields.optional("max"), least = fields.optional("min");
  if (!most && !least) throw fields.node().fault("expected a bound: max, min or both");
  if (budget.is_ratio()) {
    if (most) budget.most_ratio = read_number(*most, 0);
    if (least) budget.least_ratio = read_number(*least, 0);
  } else {
    if (most) budget.most = read_count(*most, 0);
    if (least) budget.least = read_count(*least, 0);
  }
  const bool crossed = (budget.most && budget.least && *budget.most < *budget.least) ||
                       (budget.most_ratio && budget.least_ratio && *budget.most_ratio < *budget.least_ratio);
  if (crossed) throw least->fault("min is greater than max: nothing could keep this budget");
}

SuiteBudget read_budget(NodeRef node, const std::string& place) {
  const MapFields fields(node, budget_keys);
  const std::string inside = place + ".";
  SuiteBudget budget;
  budget.mark = node.mark();
  budget.place = place;
  budget.workload = read_optional(fields, "workload", inside);
  budget.policy = read_optional(fields, "policy", inside);
  budget.metric =
      read_placed(fields.required("metric", "the name of a metric ('kvreplay list metrics')"), inside + "metric");
  budget.over = read_optional(fields, "over", inside);
  budget.against = read_optional(fields, "against", inside);
  if (budget.over && budget.against) throw node.fault("over and against exclude each other: one ratio a budget");
  read_bounds(fields, budget);
  return budget;
}

}  // namespace

bool names_suite(std::string_view text) {
  // A workload says "format: kv-workload/1"; only a file that has the word needs a closer look.
  if (text.find("kv-suite/") == std::string_view::npos) return false;
  try {
    const auto document = yaml::read_document(text, "");
    if (document->empty()) return false;
    const NodeRef root(*document, 0);
    if (!root.is_map()) return false;
    for (const Entry& entry : entries_of(root, "keys")) {
      if (entry.key.text() == "format") return entry.value.is_scalar() && entry.value.text().starts_with("kv-suite/");
    }
    return false;
  } catch (const InputError&) {
    // Broken YAML: by its first line that names a format, so that the right reader complains.
    const std::size_t format = text.find("format:");
    return format != std::string_view::npos && text.substr(format, 40).find("kv-suite/") != std::string_view::npos;
  }
}

bool is_suite_file(const std::string& path) {
  try {
    return names_suite(yaml::read_file(path));
  } catch (const InputError&) {
    return false;
  }
}

Suite read_suite_text(std::string_view text, const std::string& path) {
  const auto document = yaml::read_document(text, path);
  const MapFields top = read_suite_top(*document);
  Suite suite;
  suite.path = path;
  suite.title = read_text(top.required("title", "a line that says what the suite is for"));
  read_workloads(top.required("workloads", "the list of workload files"), suite);
  if (const auto policies = top.optional("policies")) read_policies(*policies, suite);
  suite.model = read_optional(top, "model");
  suite.depth = read_optional(top, "depth");
  if (const auto repetitions = top.optional("repetitions")) suite.repetitions = read_count(*repetitions, 1, 1'000'000);
  if (const auto budgets = top.optional("budgets")) {
    for (const NodeRef item : limited_items_of(*budgets, "budgets", max_suite_budgets)) {
      suite.budgets.push_back(read_budget(item, item_place("budgets", suite.budgets.size())));
    }
  }
  return suite;
}

Suite read_suite(const std::string& path) { return read_suite_text(yaml::read_file(path), path); }

bool names_workload(const std::string& wanted, const SuiteWorkload& workload, const std::string& id) {
  return wanted == id || wanted == workload.relative || wanted == workload.path ||
         fnmatch(wanted.c_str(), workload.relative.c_str(), FNM_PATHNAME) == 0;
}

InputError fault(const Suite& suite, const PlacedText& at, const std::string& problem,
                 std::vector<std::string> candidates) {
  return {suite.path, at.mark, at.place, problem, at.text, std::move(candidates)};
}

}  // namespace kvreplay::workloads
