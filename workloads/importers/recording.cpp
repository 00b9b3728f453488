#include "workloads/importers/recording.hpp"

#include "workloads/fields.hpp"
#include "workloads/reader.hpp"
#include "workloads/yaml/source_text.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace kvreplay::workloads::importers {
namespace {

constexpr std::string_view format_name = "kv-calls/1";
constexpr std::array<std::string_view, 8> header_keys{"format",   "recorder",  "engine", "content",
                                                      "recorded", "tokenizer", "model",  "title"};
constexpr std::array<std::string_view, 14> observed_keys{
    "fed",         "first_position", "held_before", "held_after", "capacity_before", "capacity_after", "bytes_before",
    "bytes_after", "new_storage",    "resets",      "crop_to",    "error",           "policy",         "peak_bytes"};
constexpr std::array<std::string_view, 5> contents{"exact-ids", "permuted-ids", "block-hashes", "lengths", "structure"};

// Keys of model dimensions as the format has them; the strict reader has the last word on their values.
std::string model_text(const JsonRow& model) {
  std::string text;
  for (const auto& [key, value] : model.object().items()) {
    if (!is_name(key)) throw model.fault(key, "no key of a workload's model map");
    if (!value.is_string() && !value.is_number()) throw model.fault(key, "expected a number or text");
    text += (text.empty() ? "" : ", ") + key + ": ";
    text += value.is_string() ? importers::quoted(value.get<std::string>()) : value.dump();
  }
  return "{" + text + "}";
}

// The header's values are the workload's, so its strict reader judges them; a fault is told at the recording's line.
void check_values(const JsonRow& row, const WorkloadDraft::Recorded& parts) {
  std::string text = "format: kv-workload/1\nmeta: {id: recording, title: ";
  text += (parts.title.empty() ? "none" : importers::quoted(parts.title)) + ", recorder: " + parts.recorder;
  if (!parts.recorded.empty()) text += ", recorded: " + importers::quoted(parts.recorded);
  text += "}\n";
  if (!parts.tokenizer.empty()) text += "tokenizer: " + parts.tokenizer + "\n";
  if (!parts.model.empty()) text += "model: " + parts.model + "\n";
  try {
    (void)read_workload_text(text + "events: [{new: main}]\n", "");
  } catch (const InputError& error) {
    constexpr std::string_view of_meta = "meta.";
    const std::string_view place = error.place;
    throw row.fault(place.starts_with(of_meta) ? place.substr(of_meta.size()) : place, error.problem);
  }
}

void check_keys(const JsonRow& row, KeyList known) {
  const std::vector<std::string> others = row.others(known);
  if (!others.empty()) throw row.unknown(others.front(), known);
}

}  // namespace

void Recording::read_header(const JsonRow& row) {
  const std::string format = row.text("format");
  if (format != format_name) {
    throw row.fault("format", "expected " + std::string(format_name) + ", found " + yaml::shown(format));
  }
  check_keys(row, header_keys);
  const JsonRow recorder(row.object("recorder"), row, "recorder");
  WorkloadDraft::Recorded parts;
  parts.recorder = "{name: " + importers::quoted(recorder.text("name")) +
                   ", version: " + importers::quoted(recorder.text("version")) + "}";
  parts.content = row.text("content");
  if (std::find(contents.begin(), contents.end(), parts.content) == contents.end()) {
    throw row.fault("content", yaml::shown(parts.content) + " is no kind of content a workload can have");
  }
  engine_ = row.text("engine");
  if (row.has("title")) parts.title = row.text("title");
  if (row.has("recorded")) parts.recorded = row.text("recorded");
  if (row.has("tokenizer")) {
    const JsonRow tokenizer(row.object("tokenizer"), row, "tokenizer");
    vocab_ = tokenizer.whole("vocab", 1, 2147483647);
    parts.tokenizer =
        "{name: " + importers::quoted(tokenizer.text("name")) + ", vocab: " + std::to_string(*vocab_) + "}";
  }
  if (row.has("model")) parts.model = model_text(JsonRow(row.object("model"), row, "model"));
  check_values(row, parts);
  parts_ = parts;
}

void Recording::see_call(const JsonRow& row, const RawCall& call, Count length) {
  ++num_calls_;
  has_drafts_ = has_drafts_ || call.drafts > 0;
  if (!row.has("observed")) {
    every_call_ = false;
    return;
  }
  const JsonRow seen(row.object("observed"), row, "observed");
  if (has_header()) check_keys(seen, observed_keys);
  const auto count = [&seen](const char* key) -> std::optional<Count> {
    if (!seen.has(key)) return std::nullopt;
    return seen.whole(key, 0);
  };
  const std::string error = seen.has("error") ? seen.text("error") : "";
  const std::string storage = seen.has("new_storage") ? seen.text("new_storage") : "";
  if (!storage.empty() && storage != "first" && storage != "yes") {
    throw seen.fault("new_storage", "expected first or yes, found " + yaml::shown(storage));
  }
  const Count fed = count("fed").value_or(0);
  const Count most = length + call.drafts;
  if (fed > most) {
    throw seen.fault("fed", "the list has " + std::to_string(most) + " tokens, no engine feeds " + std::to_string(fed));
  }
  totals_.fed += fed;
  totals_.allocations += storage.empty() ? 0 : 1;
  totals_.reallocations += storage == "yes" ? 1 : 0;
  totals_.resets += count("resets").value_or(0);
  totals_.crops += count("crop_to") && error.empty() ? 1 : 0;
  if (const auto peak = count("peak_bytes")) {
    totals_.peak_bytes = std::max(totals_.peak_bytes.value_or(0), *peak);
  } else {
    has_peaks_ = false;
  }
  if (const auto bytes = count("bytes_after")) totals_.bytes_at_end = bytes;
  totals_.then = error;
  totals_.then_keep = call.keep;
  totals_.then_length = length;
  if (seen.has("policy")) policies_.insert(seen.text("policy"));
}

std::string Recording::observed_text() const {
  if (num_calls_ == 0 || !every_call_) return {};
  std::string policy = policies_.size() == 1 ? *policies_.begin() : "none-known";
  if (!one_sequence_) policy = "several-sequences";
  std::string text = "{engine: " + importers::quoted(engine_) + ", policy: " + importers::quoted(policy);
  const auto add = [&text](const char* key, Count value) {
    text += std::string(", ") + key + ": " + std::to_string(value);
  };
  add("fed", totals_.fed);
  if (totals_.bytes_at_end) {
    add("allocations", totals_.allocations);
    add("reallocations", totals_.reallocations);
    add("resets", totals_.resets);
    if (!has_drafts_) add("crops", totals_.crops);
    if (has_peaks_) add("peak_bytes", *totals_.peak_bytes);
    add("bytes_at_end", *totals_.bytes_at_end);
  }
  if (!totals_.then.empty()) {
    text += ", then: " + importers::quoted(totals_.then) + ", then_wanted: {keep: ";
    text += std::to_string(totals_.then_keep) + ", length: " + std::to_string(totals_.then_length) + "}";
  }
  return text + "}";
}

void Recording::describe(WorkloadDraft& draft) const {
  if (!has_header()) return;
  WorkloadDraft::Recorded parts = parts_;
  parts.observed = observed_text();
  draft.set_recorded(parts);
}

}  // namespace kvreplay::workloads::importers
