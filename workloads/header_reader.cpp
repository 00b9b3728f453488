#include "workloads/header_reader.hpp"

#include "workloads/licence.hpp"
#include "workloads/token_items.hpp"
#include "workloads/yaml/source_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace kvreplay::workloads {
namespace {

using yaml::NodeRef;
using yaml::shown;

constexpr Count max_dimension = std::numeric_limits<std::int32_t>::max();
constexpr Count gemma2_vocab = 256000;
constexpr Count first_generated_id = 256;

constexpr std::string_view top_level_keys[] = {"format", "meta", "tokenizer", "model", "streams", "events", "expect"};

// --- meta -----------------------------------------------------------------------------------------------------------

bool is_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_iso_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  std::array<int, 3> parts{};
  const std::array<std::string_view, 3> texts{text.substr(0, 4), text.substr(5, 2), text.substr(8, 2)};
  for (std::size_t i = 0; i < 3; ++i) {
    if (!is_digits(texts[i])) return false;
    std::from_chars(texts[i].data(), texts[i].data() + texts[i].size(), parts[i]);
  }
  const auto [year, month, day] = parts;
  if (month < 1 || month > 12) return false;
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  constexpr std::array<int, 12> days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return day >= 1 && day <= days[static_cast<std::size_t>(month - 1)] + (month == 2 && leap ? 1 : 0);
}

std::string read_date(NodeRef node) {
  if (!node.is_scalar() || !is_iso_date(node.text())) {
    throw node.fault("expected a quoted ISO date such as \"2026-03-23\", found " + node.description());
  }
  if (!node.quoted()) throw node.fault("quote the date: \"" + std::string(node.text()) + "\"");
  return std::string(node.text());
}

std::string read_licence(NodeRef node) {
  std::string text = read_text(node);
  if (!is_licence(text)) {
    throw node.fault(std::string("expected ") + licence_form + ", found " + node.description());
  }
  return text;
}

std::string read_content(NodeRef node) {
  const std::vector<std::string> kinds{"exact-ids", "permuted-ids", "block-hashes", "lengths", "structure"};
  if (node.is_scalar() && std::find(kinds.begin(), kinds.end(), node.text()) != kinds.end()) {
    return std::string(node.text());
  }
  throw not_among(node, "the kind of content", kinds);
}

std::vector<std::pair<std::string, std::string>> read_source(NodeRef node) {
  static constexpr std::string_view keys[] = {"repo", "commit", "path", "item", "url", "sha256"};
  const MapFields fields(node, keys);
  std::vector<std::pair<std::string, std::string>> source;
  for (const Entry& entry : entries_of(node, "texts")) {
    std::string text = read_text(entry.value);
    if (entry.key.text() == "sha256") {
      const bool hex = std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
      });
      if (!hex || text.size() != 64) throw entry.value.fault("expected 64 hexadecimal digits, found " + shown(text));
    }
    source.emplace_back(entry.key.text(), std::move(text));
  }
  return source;
}

Meta read_meta(NodeRef node) {
  static constexpr std::string_view keys[] = {"id",      "title",    "recorder", "source",
                                              "licence", "recorded", "content",  "notes"};
  const MapFields fields(node, keys);
  Meta meta;
  meta.id = read_text(fields.required("id", "a short name of the workload"));
  meta.title = read_text(fields.required("title", "a line that says what was recorded"));
  if (const auto recorder = fields.optional("recorder")) {
    static constexpr std::string_view recorder_keys[] = {"name", "version"};
    const MapFields recorder_fields(*recorder, recorder_keys);
    meta.recorder_name = read_text(recorder_fields.required("name", "the recorder's name"));
    if (const auto version = recorder_fields.optional("version")) meta.recorder_version = read_text(*version);
  }
  if (const auto source = fields.optional("source")) meta.source = read_source(*source);
  if (const auto licence = fields.optional("licence")) meta.licence = read_licence(*licence);
  if (const auto recorded = fields.optional("recorded")) meta.recorded = read_date(*recorded);
  if (const auto content = fields.optional("content")) meta.content = read_content(*content);
  if (const auto notes = fields.optional("notes")) meta.notes = read_long_text(*notes);
  return meta;
}

// --- model ----------------------------------------------------------------------------------------------------------

// Values are checked here, where their place is known, and kept as canonical text.
std::string read_model_value(std::string_view key, NodeRef node) {
  const auto among = [key](std::initializer_list<std::string_view> keys) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  if (key == "seed") return std::to_string(read_seed(node));
  if (key == "intermediate_size") return std::to_string(read_count(node, 0, max_dimension));
  if (key == "dtype") {
    if (node.is_scalar() && (node.text() == "fp32" || node.text() == "bf16")) return std::string(node.text());
    throw not_among(node, "the element type of the cache", {"fp32", "bf16"});
  }
  if (among({"query_pre_attn_scalar", "attn_softcap", "final_softcap", "rope_theta", "rms_norm_eps"})) {
    if (among({"attn_softcap", "final_softcap"}) && node.is_scalar() && node.text() == "off") return "off";
    const double value = read_number(node, 0);
    if (value == 0) throw node.fault("expected a number above 0, found " + node.description());
    std::array<char, 32> text;
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
  }
  return std::to_string(read_count(node, 1, max_dimension));
}

ModelRequest read_model(NodeRef node) {
  static constexpr std::string_view keys[] = {"profile",
                                              "checkpoint",
                                              "num_layers",
                                              "hidden_size",
                                              "num_heads",
                                              "num_kv_heads",
                                              "head_dim",
                                              "intermediate_size",
                                              "query_pre_attn_scalar",
                                              "sliding_window",
                                              "max_positions",
                                              "vocab_size",
                                              "attn_softcap",
                                              "final_softcap",
                                              "rope_theta",
                                              "rms_norm_eps",
                                              "dtype",
                                              "seed",
                                              "recorded_with"};
  const MapFields fields(node, keys);
  ModelRequest model;
  model.mark = node.mark();
  for (const Entry& entry : entries_of(node, "model keys")) {
    const std::string_view key = entry.key.text();
    if (key == "profile") {
      model.profile = Given<std::string>{read_text(entry.value), entry.value.mark()};
    } else if (key == "checkpoint") {
      model.checkpoint = Given<std::string>{read_text(entry.value), entry.value.mark()};
    } else if (key == "recorded_with") {
      entries_of(entry.value, "whatever the recorder noted");
    } else {
      model.overrides.push_back({std::string(key), {read_model_value(key, entry.value), entry.value.mark()}});
    }
  }
  if (model.profile && model.checkpoint) {
    throw fields.optional("checkpoint")->fault("give either a profile or a checkpoint, not both");
  }
  return model;
}

Count vocab_of_model(const ModelRequest& model, const std::string& path, const ModelVocab& model_vocab) {
  for (const auto& [key, given] : model.overrides) {
    if (key == "vocab_size") return *whole_number(given.value);
  }
  const Count vocab = model_vocab ? model_vocab(model, path) : 0;
  return vocab > 0 ? vocab : gemma2_vocab;
}

// --- streams --------------------------------------------------------------------------------------------------------

Stream read_stream(NodeRef node, const TokenReader& tokens, Count vocab) {
  static constexpr std::string_view keys[] = {"ids", "seed", "indexed"};
  const MapFields fields(node, keys);
  const auto ids = fields.optional("ids");
  const auto seed = fields.optional("seed");
  const auto indexed = fields.optional("indexed");
  if (ids.has_value() == seed.has_value()) {
    throw node.fault("expected either ids (a literal stream) or seed (a generated one)");
  }
  Stream stream;
  if (ids) {
    if (indexed) throw indexed->fault("only a generated stream (seed) can be indexed");
    stream.ids = tokens.read_ids(*ids);
    return stream;
  }
  if (vocab <= first_generated_id) {
    throw node.fault("a generated stream needs a vocabulary of more than 256 ids, but it has " + std::to_string(vocab));
  }
  stream.generated = true;
  stream.seed = read_seed(*seed);
  if (indexed) stream.indexed = read_bool(*indexed);
  return stream;
}

}  // namespace

MapFields read_top_level(const yaml::Document& document) {
  if (document.empty() || document.node(0).kind == yaml::NodeKind::null) {
    throw InputError(document.file(), {}, "", "no workload in the file: it is empty");
  }
  const NodeRef root(document, 0);
  if (root.is_map()) {
    for (const Entry& entry : entries_of(root, "keys")) {
      if (entry.key.text() != "format") continue;
      const std::string_view format = entry.value.is_scalar() ? entry.value.text() : "";
      if (format == "kv-workload/1") break;
      if (format.starts_with("kv-suite/")) {
        throw entry.value.fault("this is a suite (" + std::string(format) +
                                "), not a workload; 'run' and 'check' take suites");
      }
      throw entry.value.fault("expected the format kv-workload/1, found " + entry.value.description(),
                              std::string(format), {"kv-workload/1"});
    }
  }
  MapFields top(root, top_level_keys);
  top.required("format", "kv-workload/1");
  return top;
}

void read_header(const MapFields& top, const ModelVocab& model_vocab, Workload& workload) {
  workload.meta = read_meta(top.required("meta", "a map with id and title"));
  if (const auto model = top.optional("model")) workload.model = read_model(*model);
  if (const auto tokenizer = top.optional("tokenizer")) {
    static constexpr std::string_view keys[] = {"name", "vocab"};
    const MapFields fields(*tokenizer, keys);
    if (const auto name = fields.optional("name")) workload.tokenizer_name = read_text(*name);
    if (const auto vocab = fields.optional("vocab")) workload.vocab = read_count(*vocab, 1, max_dimension);
  }
  if (workload.vocab == 0) workload.vocab = vocab_of_model(workload.model, workload.path, model_vocab);
}

void read_streams(const MapFields& top, Workload& workload) {
  const auto streams = top.optional("streams");
  if (!streams) return;
  for (const Entry& entry : entries_of(*streams, "named streams")) {
    const std::string name(read_name(entry.key));
    Stream stream = read_stream(entry.value, TokenReader(workload), workload.vocab);
    stream.name = name;
    workload.streams.push_back(std::move(stream));
  }
}

}  // namespace kvreplay::workloads
