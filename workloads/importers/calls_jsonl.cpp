// calls-jsonl: the raw stream of a recorder, one `call {keep, feed}` per evaluation of an engine, in one of two forms:
//
//   {"id": "x", "prompt_tokens": [...], "calls": [{"keep": 0, "feed": [...]}, ...]}   a line is a whole sequence; the
//   first
//       call feeds behind the prompt, which may be left out
//   {"sequence": "main", "keep": 19, "feed": [53]}                                     a line is one call; sequences
//   may
//       take turns, without a name it is main
//
// keep: how much of the sequence's last list stays; feed: the ids behind it; optional len (keep + feed) and rewind
// (what the call dropped) are checked, `"logits": "all"` wants a row for every token fed. Calls are folded: an
// evaluation whose successor keeps everything and adds ids becomes decode (its first id, taken as the sampled one) and
// append (the others). No list evaluated changes by that, nor their order.
#include "workloads/fields.hpp"
#include "workloads/importers/json_row.hpp"
#include "workloads/importers/rules.hpp"
#include "workloads/importers/trace_rows.hpp"
#include "workloads/importers/workload_draft.hpp"
#include "workloads/yaml/source_text.hpp"

#include <map>
#include <span>

namespace kvreplay::workloads::importers {
namespace {

constexpr Count max_id = 2147483645;

struct RawCall {
  Count keep = 0;
  std::vector<Count> feed;
  bool all_logits = false;
};

Tokens literal(std::span<const Count> ids) {
  Tokens tokens;
  for (const Count id : ids) tokens.add(std::to_string(id), 1);
  return tokens;
}

// `length`: of the sequence's last list; becomes the length this call evaluates. Behind a prompt nothing is kept yet,
// and recorders write keep 0 although the prompt stays.
RawCall read_call(const JsonRow& row, Count& length, bool behind_prompt) {
  RawCall call;
  call.keep = row.whole("keep", 0);
  call.feed = row.wholes("feed", max_id);
  if (behind_prompt && call.keep == 0) call.keep = length;
  if (call.keep > length) {
    throw row.fault("keep", std::to_string(call.keep) + " is more than the " + std::to_string(length) +
                                " tokens of the sequence's last list");
  }
  if (row.has("rewind") && row.whole("rewind", 0) != length - call.keep) {
    throw row.fault("rewind", "the call drops " + std::to_string(length - call.keep) + " tokens by its keep");
  }
  length = call.keep + static_cast<Count>(call.feed.size());
  if (row.has("len") && row.whole("len", 0) != length) {
    throw row.fault("len", "keep and feed make " + std::to_string(length));
  }
  if (length == 0) throw row.fault("feed", "the call evaluates an empty list");
  if (row.has("logits")) {
    const std::string rows = row.text("logits");
    call.all_logits = rows == "all";
    if (rows != "all" && rows != "last") throw row.fault("logits", "expected all or last");
    if (call.all_logits && call.feed.empty()) throw row.fault("logits", "all rows of a call that feeds nothing");
  }
  return call;
}

// Writes calls of the current sequence, always one evaluation behind.
class Folder {
 public:
  explicit Folder(WorkloadDraft& draft) : draft_(draft) {}

  void begin(std::span<const Count> prompt) {
    length_ = static_cast<Count>(prompt.size());
    saw(prompt);
    if (!prompt.empty()) draft_.append(literal(prompt));
  }
  // The sequence had `length` tokens when it was left.
  void resume(Count length) { length_ = length; }

  void add(const RawCall& call) {
    saw(call.feed);
    std::span<const Count> forced = call.feed;
    if (waiting_ && !waiting_all_ && call.keep == length_ && !forced.empty()) {
      run_.add(std::to_string(forced.front()), 1);
      forced = forced.subspan(1);
      if (!forced.empty()) write_run();
    } else {
      flush();
      if (call.keep < length_) draft_.rewind_to(call.keep);
    }
    if (!forced.empty()) draft_.append(literal(forced));
    length_ = call.keep + static_cast<Count>(call.feed.size());
    waiting_ = true;
    waiting_all_ = call.all_logits;
  }

  // Writes what is still held back.
  void flush() {
    write_run();
    if (waiting_) draft_.eval(waiting_all_);
    waiting_ = false;
  }

 private:
  void write_run() {
    if (run_.count > 0) draft_.decode(run_);
    run_ = {};
  }
  void saw(std::span<const Count> ids) {
    for (const Count id : ids) draft_.saw_id(id);
  }

  WorkloadDraft& draft_;
  Tokens run_;  // ids of evaluations that are not written yet
  Count length_ = 0;
  bool waiting_ = false, waiting_all_ = false;  // an evaluation is not written yet, and what it wants
};

class CallsImport {
 public:
  CallsImport(TraceRows& rows, WorkloadDraft& draft) : rows_(rows), draft_(draft), folder_(draft) {}

  bool take(const TraceLine& line) {
    draft_.set_line(line.number);
    const JsonRow row(line, rows_.path());
    const bool whole = row.has("calls");
    if (num_taken_ > 0 && whole != whole_sequences_) {
      throw row.fault("", "rows of one call and rows of a whole sequence in one file");
    }
    if (whole) {
      take_sequence(row);
    } else {
      take_call(row);
    }
    whole_sequences_ = whole;
    ++num_taken_;
    return true;
  }
  void finish() { folder_.flush(); }

 private:
  void take_sequence(const JsonRow& row) {
    const std::string id = row.has("id") ? row.text("id") : "";
    const auto earlier = ids_.find(id);
    if (!id.empty() && earlier != ids_.end()) {
      throw row.fault("id", yaml::shown(id) + " again, first in line " + std::to_string(earlier->second));
    }
    std::vector<Count> prompt;
    if (row.has("prompt_tokens")) prompt = row.wholes("prompt_tokens", max_id);
    Count length = static_cast<Count>(prompt.size());
    std::vector<RawCall> calls;
    for (const nlohmann::json& item : row.list("calls")) {
      const JsonRow call(item, row, "calls[" + std::to_string(calls.size()) + "]");
      calls.push_back(read_call(call, length, calls.empty() && !prompt.empty()));
    }
    if (calls.empty()) throw row.fault("calls", "no call at all");

    if (!id.empty()) ids_.emplace(id, row.line());
    const std::string name = "r" + std::to_string(num_taken_);
    draft_.new_sequence(name, std::nullopt);
    folder_.begin(prompt);
    for (const RawCall& call : calls) folder_.add(call);
    folder_.flush();
    draft_.end(name);
  }

  void take_call(const JsonRow& row) {
    const std::string name = row.has("sequence") ? row.text("sequence") : "main";
    if (!is_name(name))
      throw row.fault("sequence", "expected a name of letters, digits and _, found " + yaml::shown(name));
    const auto known = lengths_.find(name);
    Count length = known == lengths_.end() ? 0 : known->second;
    const RawCall call = read_call(row, length, false);
    if (name != current_) {
      folder_.flush();
      if (known == lengths_.end()) {
        draft_.new_sequence(name, std::nullopt);
        folder_.begin({});
      } else {
        draft_.switch_to(name);
        folder_.resume(known->second);
      }
      current_ = name;
    }
    folder_.add(call);
    lengths_[name] = length;
  }

  TraceRows& rows_;
  WorkloadDraft& draft_;
  Folder folder_;
  Count num_taken_ = 0;
  bool whole_sequences_ = false;
  std::map<std::string, int> ids_;        // line of each id
  std::map<std::string, Count> lengths_;  // of each sequence's last list
  std::string current_;
};

}  // namespace

void import_calls_jsonl(TraceRows& rows, WorkloadDraft& draft) {
  draft.explain("Calls folded into append, decode and rewind; the first id fed after an evaluation counts as sampled.");
  CallsImport import(rows, draft);
  rows.each([&](const TraceLine& line) { return import.take(line); });
  import.finish();
}

}  // namespace kvreplay::workloads::importers
