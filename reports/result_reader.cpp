#include "reports/json_node.hpp"

#include <algorithm>

namespace kvreplay::reports {
namespace {

// 292 years: whatever adds these times up must fit 64 bits.
constexpr double most_ns = 9.2e18;

void check_schema(const Json& document, const JsonSource& source) {
  const auto schema = document.is_object() ? document.find("schema") : document.end();
  if (schema == document.end() || !schema->is_string()) {
    throw ResultError(
        fmt::format("{}: no result of kvreplay: there is no \"schema\": \"{}\"", source.name, result_schema));
  }
  if (*schema == result_schema) return;
  throw ResultError(
      fmt::format("{}: schema {}; this program reads \"{}\"", source.name, shown_json(*schema), result_schema));
}

// Of no times nothing is known, of some everything but perhaps p99.
std::optional<Count> read_rank(const JsonNode& node, const char* name, Count n) {
  const JsonNode rank = node.member(name);
  if (n == 0 && !rank.is_null()) rank.refuse("null where n is 0");
  if (n == 0 || (rank.is_null() && std::string_view(name) == "p99")) return std::nullopt;
  return rank.integer(0);
}

Percentiles read_percentiles(const JsonNode& node) {
  Percentiles percentiles;
  percentiles.n = node.member("n").integer(0);
  percentiles.sum = node.member("sum").integer(0);
  percentiles.min = read_rank(node, "min", percentiles.n);
  percentiles.p50 = read_rank(node, "p50", percentiles.n);
  percentiles.p90 = read_rank(node, "p90", percentiles.n);
  percentiles.p99 = read_rank(node, "p99", percentiles.n);
  percentiles.max = read_rank(node, "max", percentiles.n);
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
  outcome.kind = node.member("kind").one_of(
      {"completed", "capacity_exceeded", "rewind_refused", "out_of_memory", "limit_reached", "interrupted"});
  outcome.evaluation = node.member("evaluation").optional_integer(0);
  if (!node.member("line").is_null()) outcome.line = node.member("line").line_number();
  outcome.wanted = node.member("wanted").optional_integer(0);
  outcome.available = node.member("available").optional_integer(0);
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
  verification.tolerance = node.member("tolerance").number_from(0);
  // null: not a finite number, which no tolerance allows.
  const auto difference = [](const JsonNode& value) {
    return value.is_null() ? std::numeric_limits<double>::infinity() : value.number_from(0);
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
  sample.new_storage = node.member("new_storage").optional_one_of({"first", "yes"});
  sample.crop_to = node.member("crop_to").optional_integer();
  sample.action = node.member("action").optional_one_of(
      {"first", "append", "cached", "crop", "reset", "discard", "grow", "refused", "exceeded"});
  sample.cause =
      node.member("cause").optional_one_of({"overflow", "window_passed", "sequence_switch", "rewind", "policy"});
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
  if (shard.index > shard.count) node.member("index").refuse(fmt::format("at most {}, the count", shard.count));
  shard.num_cells = node.member("cells").integer(0);
  return shard;
}

// The times of a run stand in its repetitions, from which its "latency" was made.
void check_times(const JsonNode& node, const RunResult& result) {
  const bool timed = std::any_of(result.repetitions.begin(), result.repetitions.end(),
                                 [](const Repetition& repetition) { return repetition.latency.has_value(); });
  const JsonNode latency = node.member("latency");
  if (result.depth == "plan" && timed) node.member("depth").refuse("alloc or compute where repetitions have times");
  if (!timed && !latency.is_null()) latency.refuse("null where no repetition has times");
  if (timed && latency.is_null()) latency.refuse("an object where repetitions have times");
  if (timed) static_cast<void>(read_latency(latency));  // made anew, but a damaged one tells of a damaged file
}

// Single times belong to the evaluations a repetition counted and what was fed at each; long runs store neither, and
// `compare` reads neither.
void check_lengths(const JsonNode& node, const RunResult& result) {
  const auto refuse = [](const JsonNode& list, Count evaluations) {
    list.refuse(fmt::format("{} numbers, one for each evaluation of the repetition", evaluations));
  };
  const auto has = [](const std::vector<Count>& list, Count evaluations) {
    return list.empty() || static_cast<Count>(list.size()) == evaluations;
  };
  std::size_t at = 0;
  node.member("repetitions").for_each_element([&](const JsonNode& repetition) {
    const Repetition& read = result.repetitions[at++];
    const Count evaluations = read.latency ? read.latency->evaluation_ns.n : 0;
    if (!has(read.evaluation_ns, evaluations)) refuse(repetition.member("evaluation_ns"), evaluations);
    const bool is_fed_missing = !read.evaluation_ns.empty() && result.evaluation_fed.empty();
    if (is_fed_missing || (read.latency && !has(result.evaluation_fed, evaluations))) {
      refuse(node.member("evaluation_fed"), evaluations);
    }
  });
}

double all_ns(const RunResult& result) {
  double sum = 0;
  for (const Repetition& repetition : result.repetitions) {
    if (repetition.latency) sum += static_cast<double>(repetition.latency->total_ns);
    for (const Count ns : repetition.evaluation_ns) sum += static_cast<double>(ns);
  }
  return sum;
}

RunResult read_run(const JsonNode& node) {
  RunResult result;
  if (const auto suite = node.later_member("suite")) result.suite = suite->text();
  const JsonNode workload = node.member("workload"), policy = node.member("policy");
  result.workload = {workload.member("id").text(), workload.member("title").text(), workload.member("path").text(),
                     workload.member("sha256").text()};
  result.policy = {policy.member("name").text(), policy.member("spec").text(), policy.member("options").pairs()};
  result.model = read_model(node.member("model"));
  result.depth = node.member("depth").one_of({"plan", "alloc", "compute"});
  result.outcome = read_outcome(node.member("outcome"));
  node.member("counters").for_each_member([&](const std::string& name, const JsonNode& value) {
    result.counters.emplace_back(name, value.integer(0));
  });
  if (!node.member("verification").is_null()) result.verification = read_verification(node.member("verification"));
  result.evaluation_fed = node.member("evaluation_fed").integers(0);
  node.member("repetitions").for_each_element([&](const JsonNode& repetition) {
    result.repetitions.push_back(read_repetition(repetition));
  });
  check_times(node, result);
  check_lengths(node, result);
  node.member("timeline").for_each_element([&](const JsonNode& sample) {
    result.timeline.push_back(read_sample(sample));
  });
  return result;
}

}  // namespace

ResultFile read_result_json(std::string_view text, const std::string& name) {
  const JsonSource source{name, "nothing of this version writes that: make the file anew with 'kvreplay run -o'"};
  const Json document = parsed_json(text, source);
  check_schema(document, source);
  const JsonNode root(document, source);
  ResultFile file;
  file.config = root.member("config").pairs();
  file.provenance.entries = root.member("provenance").pairs();
  if (const auto shard = root.later_member("shard")) file.shard = read_shard(*shard);
  if (const auto budgets = root.later_member("budgets")) {
    budgets->for_each_element([&](const JsonNode& budget) { file.budgets.push_back(read_budget(budget)); });
  }
  double ns = 0;
  root.member("results").for_each_element([&](const JsonNode& result) {
    file.results.push_back(read_run(result));
    ns += all_ns(file.results.back());
    if (ns > most_ns) result.member("repetitions").refuse("times that add up to less than 292 years");
  });
  return file;
}

}  // namespace kvreplay::reports
