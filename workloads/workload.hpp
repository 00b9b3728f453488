// A recorded generation workload: what was asked of an engine, never how a cache should serve it.
//
// A Workload is a value: the checked content of one kv-workload/1 file (format: docs/workload-format.md). Events edit
// token ledgers; expansion.hpp turns them into evaluations. Token lists are spans of streams and stay unexpanded.
#pragma once

#include "workloads/input_error.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kvreplay::workloads {

using TokenId = std::uint32_t;
using SequenceId = std::uint32_t;
using Count = std::int64_t;

// Where ids come from: a literal list or a counter-based generator.
struct Stream {
  std::string name;          // empty: ids written in the events themselves
  std::vector<TokenId> ids;  // literal streams
  bool generated = false;
  std::uint64_t seed = 0;  // generated streams
  bool indexed = false;
};

// `count` ids of a stream. Token k of the slice is number `begin + k` of the concatenation over index = first_index,
// first_index + 1, ... of the ids [offset, offset + ids_per_index) of that index. A slice of one index, which is every
// slice of a literal stream (index 0), has offset 0 and ids_per_index = one_index, so that neighbours join.
struct Slice {
  static constexpr std::uint64_t one_index = std::uint64_t{1} << 62;

  std::uint32_t stream = 0;
  std::uint64_t first_index = 0;
  std::uint64_t ids_per_index = one_index;
  std::uint64_t offset = 0;
  std::uint64_t begin = 0;
  Count count = 0;
};
using TokenSpans = std::vector<Slice>;

// A place in a stream (index 0) from which as many ids are taken as needed.
struct StreamPlace {
  std::uint32_t stream = 0;
  std::uint64_t position = 0;
};

// Events, one type each; all act on the current sequence unless they name one.
struct NewSequence {
  SequenceId sequence = 0;
  std::optional<double> at_ms;
};
struct Append {
  TokenSpans tokens;
};
struct Evaluate {
  bool all_logits = false;  // rows of all pending tokens, not the last row only
};
struct Decode {
  Count n = 0;
  TokenSpans ids;  // n ids
};
// Shortens to `length`, whatever form (by, to a length, to a mark) the file used.
struct Rewind {
  Count length = 0;
};
struct Verify {
  Count k = 0;
  std::vector<std::uint32_t> accepts;
  StreamPlace accepted;
  std::optional<StreamPlace> rejected;  // absent only if every draft is accepted
};
struct Fork {
  SequenceId from = 0, as = 0;
};
struct Switch {
  SequenceId sequence = 0;
};
// Remembers the length; rewinds to it are resolved by the reader, so nothing is left to do.
struct Mark {
  std::uint32_t mark = 0;
};
struct Wait {
  double ms = 0;
};
struct End {
  SequenceId sequence = 0;
};
struct Call {
  Count keep = 0;
  TokenSpans feed;
  bool all_logits = false;
};

struct Event {
  std::variant<NewSequence, Append, Evaluate, Decode, Rewind, Verify, Fork, Switch, Mark, Wait, End, Call> what;
  SourceMark mark;
};

// A key the file gave, with its place for later errors.
template <typename T>
struct Given {
  T value;
  SourceMark mark;
};

// The `model` block as written; sim/model_config.hpp resolves it.
struct ModelRequest {
  std::optional<Given<std::string>> profile;
  std::optional<Given<std::string>> checkpoint;  // folder, relative to the workload file
  // Every other key of semantics 5 (num_layers ... dtype, seed) in file order, values as text.
  std::vector<std::pair<std::string, Given<std::string>>> overrides;
  SourceMark mark;
};

// What a recorder saw its engine do; all optional keys.
struct Observed {
  std::string engine;
  std::string policy;  // the literal --policy text
  std::optional<Count> fed, allocations, reallocations, resets, crops, peak_bytes, bytes_at_end;
  std::optional<std::string> then;
  std::optional<Count> then_keep, then_length;
  SourceMark mark;
};

struct Expect {
  std::optional<Given<Count>> evals, sampled, appended, rewinds, rewound, drafted, accepted, forks, max_length;
  std::optional<Given<Count>> min_fed, min_fed_unlimited, max_fed;
  std::vector<std::pair<std::string, Given<Count>>> final_length;  // sequence name -> length
  std::vector<std::pair<std::string, Given<Count>>> ledger_crc32;  // sequence name -> crc
  std::optional<std::vector<Count>> check_logits;                  // evaluation ordinals, from 0; empty list: all
  std::optional<double> check_tolerance;
  std::vector<Observed> observed;
};

struct Meta {
  std::string id, title, licence, recorded, content, notes;
  std::optional<std::string> recorder_name, recorder_version;
  std::vector<std::pair<std::string, std::string>> source;
};

struct Workload {
  std::string path;    // as given to the reader
  std::string sha256;  // of the file's bytes, lower-case hex
  Meta meta;
  std::string tokenizer_name;
  Count vocab = 0;  // of the tokenizer, else of the model the file names; > 0 (see reader.hpp)
  ModelRequest model;
  std::vector<Stream> streams;
  std::vector<std::string> sequence_names;  // by SequenceId
  std::vector<std::string> mark_names;
  std::vector<Event> events;
  Expect expect;
};

}  // namespace kvreplay::workloads
