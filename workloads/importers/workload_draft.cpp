#include "workloads/importers/workload_draft.hpp"

#include "workloads/yaml/source_text.hpp"

#include <array>
#include <charconv>

namespace kvreplay::workloads::importers {
namespace {

// Limits of the format (docs/workload-format.md, "Errors"); the header takes less than the bytes kept for it.
constexpr Count max_events = 1'000'000;
constexpr Count max_tokens = 1'000'000'000;
constexpr std::size_t header_bytes = std::size_t{1} << 16;

std::string number_text(double value) {
  std::array<char, 64> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed, 3).ptr;
  std::string text(digits.data(), end);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace

Tokens slice(std::string_view stream, std::uint64_t index, Count count, Count offset) {
  Tokens tokens;
  std::string item = std::string(stream) + "." + std::to_string(index) + ":" + std::to_string(count);
  if (offset > 0) item += "@" + std::to_string(offset);
  tokens.add(item, count);
  return tokens;
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (std::size_t at = 0; at < text.size();) {
    std::size_t bytes = 0;
    const bool is_text = yaml::fault_of_character(text, at, bytes).empty();
    const std::string_view character = text.substr(at, is_text ? bytes : 1);
    if (!is_text || character == "\n" || character == "\t") {
      result += '?';
    } else {
      if (character == "\"" || character == "\\") result += '\\';
      result += character;
    }
    at += character.size();
  }
  return result + "\"";
}

void WorkloadDraft::fail_limit(const std::string& what) const {
  throw FatalImportError(path_, {line_, 0}, "",
                         "here the workload gets " + what +
                             ", more than a workload file may have: take fewer rows (--rows) or "
                             "shorter ones (--max-input, --scale), as far as the format has these options");
}

void WorkloadDraft::add_event(std::string_view event, Count tokens) {
  num_tokens_ += tokens;
  if (++num_events_ > max_events) fail_limit("over 1000000 events");
  if (num_tokens_ > max_tokens) fail_limit("over 1000000000 tokens");
  events_ += "  - ";
  events_ += event;
  events_ += '\n';
  if (events_.size() > yaml::max_file_bytes - header_bytes) fail_limit("over 16 MiB of text");
}

void WorkloadDraft::add_stream(const std::string& name, std::uint64_t seed, bool indexed) {
  streams_ += "  " + name + ": {seed: " + std::to_string(seed) + (indexed ? ", indexed: true}\n" : "}\n");
}

void WorkloadDraft::add_literal_stream(const std::string& name, const Tokens& ids) {
  streams_ += "  " + name + ": {ids: \"" + ids.text + "\"}\n";
  if (streams_.size() + events_.size() > yaml::max_file_bytes - header_bytes) fail_limit("over 16 MiB of text");
}

void WorkloadDraft::new_sequence(const std::string& name, std::optional<double> at_ms) {
  add_event(at_ms ? "new: {as: " + name + ", at_ms: " + number_text(*at_ms) + "}" : "new: " + name, 0);
}

void WorkloadDraft::append(const Tokens& tokens) { add_event("append: \"" + tokens.text + "\"", tokens.count); }

void WorkloadDraft::eval(bool all_logits) { add_event(all_logits ? "eval: {logits: all}" : "eval: 1", 0); }

void WorkloadDraft::decode(const Tokens& ids) {
  add_event("decode: {n: " + std::to_string(ids.count) + ", ids: \"" + ids.text + "\"}", ids.count);
}

void WorkloadDraft::rewind_to(Count length) { add_event("rewind: {to: " + std::to_string(length) + "}", 0); }

void WorkloadDraft::switch_to(const std::string& name) { add_event("switch: " + name, 0); }

void WorkloadDraft::fork(const std::string& from, const std::string& as) {
  add_event("fork: {from: " + from + ", as: " + as + "}", 0);
}

void WorkloadDraft::wait(double ms) { add_event("wait: " + number_text(ms), 0); }

void WorkloadDraft::end(const std::string& name) { add_event("end: " + name, 0); }

void WorkloadDraft::verify(Count k, const std::string& accepted, const std::string& rejected,
                           const std::vector<Count>& accepts) {
  std::string counts;
  for (const Count count : accepts) counts += (counts.empty() ? "" : " ") + std::to_string(count);
  std::string event = "verify: {k: " + std::to_string(k) + ", accepted: \"" + accepted + "\"";
  if (!rejected.empty()) event += ", rejected: \"" + rejected + "\"";
  add_event(event + ", accepts: \"" + counts + "\"}", (k + 1) * static_cast<Count>(accepts.size()));
}

std::string WorkloadDraft::meta_text(const Header& header) const {
  const auto or_else = [](const std::string& recorded, const std::string& otherwise) {
    return recorded.empty() ? otherwise : recorded;
  };
  std::string text = "  id: " + quoted(header.id) + "\n";
  text += "  title: " + quoted(header.title) + "\n";
  text += "  recorder: " + or_else(recorded_.recorder, "{name: " + header.recorder + ", version: \"1\"}") + "\n";
  text += "  source: {path: " + quoted(header.source_path) + ", sha256: " + header.source_sha256 +
          ", item: " + quoted(header.source_item) + "}\n";
  text += "  licence: " + quoted(header.licence) + "\n";
  if (!recorded_.recorded.empty()) text += "  recorded: " + quoted(recorded_.recorded) + "\n";
  text += "  content: " + or_else(recorded_.content, header.content) + "\n";
  return text + "  notes: " + quoted(header.notes) + "\n";
}

std::string WorkloadDraft::text(const Header& header) const {
  std::string text = "format: kv-workload/1\nmeta:\n" + meta_text(header) + "tokenizer: ";
  text += recorded_.tokenizer.empty()
              ? "{name: " + std::string(header.content == "exact-ids" ? "recorded" : "synthetic") +
                    ", vocab: " + std::to_string(vocab_) + "}"
              : recorded_.tokenizer;
  text += "\nmodel: ";
  if (recorded_.model.empty()) {
    text += "{profile: gemma2-2b, dtype: bf16, seed: 1";
    if (vocab_ > gemma2_vocab) text += ", vocab_size: " + std::to_string(vocab_);
    text += "}";
  } else {
    text += recorded_.model;
  }
  text += "\n";
  if (!streams_.empty()) text += "streams:\n" + streams_;
  text += "events:\n" + events_;
  if (!recorded_.observed.empty()) text += "expect:\n  observed:\n    - " + recorded_.observed + "\n";
  return text;
}

}  // namespace kvreplay::workloads::importers
