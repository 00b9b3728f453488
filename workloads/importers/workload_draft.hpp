// The workload file an importer writes, event by event, in memory and within the limits of the format.
#pragma once

#include "workloads/importers/import.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kvreplay::workloads::importers {

// Items of a token list as text, with their number.
struct Tokens {
  std::string text;
  Count count = 0;

  // Adds `items`, such as 17 or out.3:12, that stand for `added` tokens.
  void add(std::string_view items, Count added) {
    if (!text.empty()) text += ' ';
    text += items;
    count += added;
  }
};

// Tokens [offset, offset + count) of index `index` of an indexed stream; count > 0.
Tokens slice(std::string_view stream, std::uint64_t index, Count count, Count offset = 0);

class WorkloadDraft {
 public:
  // What every file says of itself besides its events.
  struct Header {
    std::string id, title, recorder, source_path, source_sha256, source_item, licence, content, notes;
  };
  // What a recorder says of its engine; replaces what an importer would say. Each is the text of a YAML value.
  struct Recorded {
    std::string recorder, title, recorded, content, tokenizer, model, observed;  // may be empty, but for the recorder
  };
  static constexpr Count gemma2_vocab = 256000;

  // `path` and the line given last are used in messages.
  explicit WorkloadDraft(std::string path) : path_(std::move(path)) {}
  void set_line(int line) { line_ = line; }

  void add_stream(const std::string& name, std::uint64_t seed, bool indexed);
  void add_literal_stream(const std::string& name, const Tokens& ids);
  void set_recorded(const Recorded& recorded) { recorded_ = recorded; }
  bool is_recorded() const { return !recorded_.recorder.empty(); }
  const std::string& recorded_title() const { return recorded_.title; }
  // Adds to the note on how rows became events.
  void explain(const std::string& sentence) { explanation_ += (explanation_.empty() ? "" : " ") + sentence; }
  // Ids up to `id` occur: a vocabulary below it would not do.
  void saw_id(Count id) { vocab_ = vocab_ > id ? vocab_ : id + 1; }

  // Events, as docs/workload-format.md has them. Each throws FatalImportError if the file would become too large.
  void new_sequence(const std::string& name, std::optional<double> at_ms);
  void append(const Tokens& tokens);
  void eval(bool all_logits);
  void decode(const Tokens& ids);
  void rewind_to(Count length);
  void switch_to(const std::string& name);
  void fork(const std::string& from, const std::string& as);
  void wait(double ms);
  void end(const std::string& name);
  void verify(Count k, const std::string& accepted, const std::string& rejected, const std::vector<Count>& accepts);

  Count num_events() const { return num_events_; }
  const std::string& explanation() const { return explanation_; }
  // The whole file.
  std::string text(const Header& header) const;

 private:
  void add_event(std::string_view event, Count tokens);
  std::string meta_text(const Header& header) const;
  [[noreturn]] void fail_limit(const std::string& what) const;

  std::string path_, streams_, events_, explanation_;
  Recorded recorded_;
  int line_ = 0;
  Count num_events_ = 0, num_tokens_ = 0, vocab_ = gemma2_vocab;
};

// Text as a double-quoted YAML scalar on one line; bytes that are no text become question marks.
std::string quoted(std::string_view text);

}  // namespace kvreplay::workloads::importers
