#include "reports/json_node.hpp"

#include <algorithm>
#include <set>

namespace kvreplay::reports {
namespace {

// Parses strictly: no duplicate keys, no NaN, nothing after the document.
Json parsed(std::string_view text, const std::string& name) {
  std::vector<std::set<std::string>> keys_of_open_objects;
  std::string duplicate;
  const auto watch = [&](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) keys_of_open_objects.emplace_back();
    if (event == Json::parse_event_t::object_end) keys_of_open_objects.pop_back();
    if (event == Json::parse_event_t::key && !keys_of_open_objects.back().insert(value.get<std::string>()).second) {
      duplicate = value.get<std::string>();
    }
    return true;
  };
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) throw ResultError(fmt::format("{}: empty", name));
  Json document;
  try {
    document = Json::parse(text, watch);
  } catch (const Json::exception& error) {
    throw NotJson(fmt::format("{}: not JSON: {}", name, error.what()));
  }
  if (!duplicate.empty()) throw ResultError(fmt::format("{}: key \"{}\" twice in one object", name, duplicate));
  return document;
}

void check_schema(const Json& document, const std::string& name) {
  const auto schema = document.is_object() ? document.find("schema") : document.end();
  if (schema == document.end() || !schema->is_string()) {
    throw ResultError(fmt::format("{}: no result of kvreplay: there is no \"schema\": \"{}\"", name, result_schema));
  }
  const std::string version = schema->get<std::string>();
  if (version != result_schema) {
    throw ResultError(fmt::format("{}: schema \"{}\"; this program reads \"{}\"", name, version, result_schema));
  }
}

Percentiles read_percentiles(const JsonNode& node) {
  Percentiles percentiles;
  percentiles.n = node.member("n").integer(0);
  percentiles.sum = node.member("sum").integer(0);
  percentiles.min = node.member("min").optional_integer(0);
  percentiles.p50 = node.member("p50").optional_integer(0);
  percentiles.p90 = node.member("p90").optional_integer(0);
  percentiles.p99 = node.member("p99").optional_integer(0);
  percentiles.max = node.member("max").optional_integer(0);
  return percentiles;
}

Latency read_latency(const JsonNode& node) {
  Latency latency;
  latency.total_ns = node.member("total_ns").integer(0);
  latency.time_to_first_token_ns = node.member("time_to_first_token_ns").optional_integer(0);
  latency.evaluation_ns = read_percentiles(node.member("evaluation_ns"));
  latency.inter_token_ns = read_percentiles(node.member("inter_token_ns"));
  node.member("parts_ns").for_each_member([&](const std::string& part, const JsonNode& ns) {
    latency.parts_ns.emplace_back(part, ns.integer(0));
  });
  return latency;
}

ProcessUse read_process(const JsonNode& node) {
  ProcessUse use;
  use.cpu_ns = node.member("cpu_ns").optional_integer(0);
  use.rss_start_bytes = node.member("rss_start_bytes").optional_integer(0);
  use.rss_end_bytes = node.member("rss_end_bytes").optional_integer(0);
  use.rss_peak_bytes = node.member("rss_peak_bytes").optional_integer(0);
  if (const auto bytes = node.later_member("workspace_bytes")) use.workspace_bytes = bytes->optional_integer(0);
  use.minor_faults = node.member("minor_faults").optional_integer(0);
  use.major_faults = node.member("major_faults").optional_integer(0);
  use.voluntary_switches = node.member("voluntary_switches").optional_integer(0);
  use.involuntary_switches = node.member("involuntary_switches").optional_integer(0);
  return use;
}

Repetition read_repetition(const JsonNode& node) {
  Repetition repetition;
  repetition.index = node.member("index").integer(0);
  repetition.run_order = node.member("run_order").integer(0);
  if (!node.member("latency").is_null()) repetition.latency = read_latency(node.member("latency"));
  if (!node.member("process").is_null()) repetition.process = read_process(node.member("process"));
  repetition.evaluation_ns = node.member("evaluation_ns").integers(0);
  return repetition;
}

Outcome read_outcome(const JsonNode& node) {
  Outcome outcome;
  outcome.kind = node.member("kind").text();
  outcome.evaluation = node.member("evaluation").optional_integer(0);
  if (!node.member("line").is_null()) outcome.line = node.member("line").line_number();
  outcome.wanted = node.member("wanted").optional_integer();
  outcome.available = node.member("available").optional_integer();
  outcome.message = node.member("message").text();
  return outcome;
}

ModelIdentity read_model(const JsonNode& node) {
  ModelIdentity model;
  model.profile = node.member("profile").text();
  model.num_layers = node.member("num_layers").integer(0);
  model.num_sliding_layers = node.member("num_sliding_layers").integer(0);
  model.hidden_size = node.member("hidden_size").integer(0);
  model.num_heads = node.member("num_heads").integer(0);
  model.num_kv_heads = node.member("num_kv_heads").integer(0);
  model.head_dim = node.member("head_dim").integer(0);
  model.intermediate_size = node.member("intermediate_size").integer(0);
  model.sliding_window = node.member("sliding_window").integer(0);
  model.max_positions = node.member("max_positions").integer(0);
  model.vocab_size = node.member("vocab_size").integer(0);
  model.row_bytes = node.member("row_bytes").integer(0);
  model.cache_dtype = node.member("cache_dtype").text();
  model.weights = node.member("weights").text();
  return model;
}

Verification read_verification(const JsonNode& node) {
  Verification verification;
  verification.evaluations_compared = node.member("evaluations_compared").integer(0);
  verification.evaluations_differing = node.member("evaluations_differing").integer(0);
  verification.tolerance = node.member("tolerance").number();
  // null: not a finite number, which no tolerance allows.
  const auto difference = [](const JsonNode& value) {
    return value.is_null() ? std::numeric_limits<double>::infinity() : value.number();
  };
  verification.max_difference_exact = difference(node.member("max_difference_exact"));
  const JsonNode first = node.member("first_difference");
  if (!first.is_null()) {
    verification.first_difference = VerificationFailure{
        first.member("evaluation").integer(0), first.member("line").line_number(), first.member("position").integer(0),
        first.member("where").text(), difference(first.member("difference"))};
  }
  verification.claimed_inexact = node.member("claimed_inexact").integer(0);
  verification.unexpected_differences = node.member("unexpected_differences").integers(0);
  verification.unexpected_equalities = node.member("unexpected_equalities").integers(0);
  verification.differing = node.member("differing").integers(0);
  return verification;
}

void read_sample_counts(const JsonNode& node, Sample& sample) {
  sample.length = node.member("length").integer(0);
  sample.common_prefix = node.member("common_prefix").integer(0);
  sample.held_before = node.member("held_before").integer(0);
  sample.kept = node.member("kept").integer(0);
  sample.fed = node.member("fed").integer(0);
  sample.held_after = node.member("held_after").integer(0);
  sample.bytes_before = node.member("bytes_before").integer(0);
  sample.bytes_after = node.member("bytes_after").integer(0);
  sample.resets = node.member("resets").integer(0);
  sample.tokens_recomputed = node.member("tokens_recomputed").integer(0);
  sample.bytes_copied = node.member("bytes_copied").integer(0);
  sample.bytes_zeroed = node.member("bytes_zeroed").integer(0);
  sample.transient_bytes = node.member("transient_bytes").integer(0);
  sample.live_global_bytes = node.member("live_global_bytes").integer(0);
  sample.live_sliding_bytes = node.member("live_sliding_bytes").integer(0);
  sample.reserved_global_bytes = node.member("reserved_global_bytes").integer(0);
  sample.reserved_sliding_bytes = node.member("reserved_sliding_bytes").integer(0);
}

Sample read_sample(const JsonNode& node) {
  Sample sample;
  sample.evaluation = node.member("evaluation").integer(0);
  sample.sequence = node.member("sequence").optional_text();
  sample.line = node.member("line").line_number();
  read_sample_counts(node, sample);
  sample.first_position = node.member("first_position").optional_integer(0);
  sample.capacity_before = node.member("capacity_before").optional_integer(0);
  sample.capacity_after = node.member("capacity_after").optional_integer(0);
  sample.new_storage = node.member("new_storage").optional_text();
  sample.crop_to = node.member("crop_to").optional_integer();
  sample.action = node.member("action").optional_text();
  sample.cause = node.member("cause").optional_text();
  if (!node.member("exact").is_null()) sample.exact = node.member("exact").boolean();
  sample.latency_ns = node.member("latency_ns").optional_integer(0);
  return sample;
}

BudgetLine read_budget(const JsonNode& node) {
  BudgetLine budget;
  budget.suite = node.member("suite").text();
  budget.line = node.member("line").line_number();
  budget.workload_path = node.member("workload").text();
  budget.policy = node.member("policy").text();
  budget.metric = node.member("metric").text();
  budget.over = node.member("over").optional_text();
  budget.against = node.member("against").optional_text();
  budget.least = node.member("min").count_or_number();
  budget.most = node.member("max").count_or_number();
  budget.value = node.member("value").count_or_number();
  budget.verdict = node.member("verdict").one_of({"passed", "broken", "not_judged"});
  budget.reason = node.member("reason").optional_text();
  return budget;
}

Shard read_shard(const JsonNode& node) {
  Shard shard;
  shard.count = node.member("count").integer(1);
  shard.index = node.member("index").integer(1);
  shard.num_cells = node.member("cells").integer(0);
  return shard;
}

RunResult read_run(const JsonNode& node) {
  RunResult result;
  if (const auto suite = node.later_member("suite")) result.suite = suite->text();
  const JsonNode workload = node.member("workload"), policy = node.member("policy");
  result.workload = {workload.member("id").text(), workload.member("title").text(), workload.member("path").text(),
                     workload.member("sha256").text()};
  result.policy = {policy.member("name").text(), policy.member("spec").text(), policy.member("options").pairs()};
  result.model = read_model(node.member("model"));
  result.depth = node.member("depth").text();
  result.outcome = read_outcome(node.member("outcome"));
  node.member("counters").for_each_member([&](const std::string& name, const JsonNode& value) {
    result.counters.emplace_back(name, value.integer());
  });
  if (!node.member("verification").is_null()) result.verification = read_verification(node.member("verification"));
  result.evaluation_fed = node.member("evaluation_fed").integers(0);
  node.member("repetitions").for_each_element([&](const JsonNode& repetition) {
    result.repetitions.push_back(read_repetition(repetition));
  });
  node.member("timeline").for_each_element([&](const JsonNode& sample) {
    result.timeline.push_back(read_sample(sample));
  });
  return result;
}

}  // namespace

ResultFile read_result_json(std::string_view text, const std::string& name) {
  const Json document = parsed(text, name);
  check_schema(document, name);
  const JsonNode root(document, name, "");
  ResultFile file;
  file.config = root.member("config").pairs();
  file.provenance.entries = root.member("provenance").pairs();
  if (const auto shard = root.later_member("shard")) file.shard = read_shard(*shard);
  if (const auto budgets = root.later_member("budgets")) {
    budgets->for_each_element([&](const JsonNode& budget) { file.budgets.push_back(read_budget(budget)); });
  }
  root.member("results").for_each_element([&](const JsonNode& result) { file.results.push_back(read_run(result)); });
  return file;
}

}  // namespace kvreplay::reports
