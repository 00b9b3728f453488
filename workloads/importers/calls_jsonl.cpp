// calls-jsonl: the raw stream of a recorder, one call {keep, feed} per evaluation of an engine, in one of two forms:
//
//   {"id": "x", "prompt_tokens": [...], "calls": [{"keep": 0, "feed": [...]}, ...]}
//       a line is a whole sequence; the first call feeds behind the prompt, which may be left out
//   {"sequence": "main", "keep": 19, "feed": [53]}
//       a line is one call; sequences may take turns, without a name it is main
//
// keep: how much of the sequence's last list stays; feed: the ids behind it; optional len (keep + feed) and rewind
// (what the call dropped) are checked, "logits": "all" wants a row for every token fed. "drafts": k says that the last
// k ids are guesses with a row of logits each, of which the sequence's next call keeps the accepted ones. Files of
// calls may also have
//
//   {"format": "kv-calls/1", "recorder": {name, version}, "engine", "content", tokenizer, model, title, recorded}
//       before the first call: what engine this was
//   {"fork": {"from": "a", "as": "b"}}, {"end": "a"}
//       a copy of a sequence's list; a sequence that is over
//   "observed": {fed, bytes_after, new_storage, ...} in a call: what the engine did (recording.hpp)
//
// With the header, a key that is none of these is a fault; without, it is not used, and people are told so.
//
// Calls are folded (call_folder.hpp). No list evaluated changes by that, nor their order.
#include "workloads/fields.hpp"
#include "workloads/importers/call_folder.hpp"
#include "workloads/importers/json_row.hpp"
#include "workloads/importers/recording.hpp"
#include "workloads/importers/rules.hpp"
#include "workloads/importers/trace_rows.hpp"
#include "workloads/importers/workload_draft.hpp"
#include "workloads/yaml/source_text.hpp"

#include <array>
#include <map>

namespace kvreplay::workloads::importers {
namespace {

constexpr Count max_id = 2147483645;
constexpr std::array<std::string_view, 8> call_keys{"sequence", "keep",   "feed",   "len",
                                                    "rewind",   "logits", "drafts", "observed"};
constexpr std::array<std::string_view, 6> inner_call_keys{"keep", "feed", "len", "rewind", "logits", "drafts"};
constexpr std::array<std::string_view, 3> sequence_keys{"id", "prompt_tokens", "calls"};
constexpr std::array<std::string_view, 1> fork_row_keys{"fork"}, end_row_keys{"end"};
constexpr std::array<std::string_view, 2> fork_keys{"from", "as"};

std::string name_of(const JsonRow& row, const char* key) {
  std::string name = row.text(key);
  if (!is_name(name)) throw row.fault(key, "expected a name of letters, digits and _, found " + yaml::shown(name));
  return name;
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
  if (row.has("drafts")) call.drafts = row.whole("drafts", 0, static_cast<Count>(call.feed.size()));
  return call;
}

class CallsImport {
 public:
  CallsImport(TraceRows& rows, WorkloadDraft& draft) : rows_(rows), draft_(draft), folder_(draft) {}

  // Whether the line is a call or a sequence of them.
  bool take(const TraceLine& line) {
    draft_.set_line(line.number);
    const JsonRow row(line, rows_.path());
    if (row.has("format")) {
      if (any_ || recording_.has_header()) throw row.fault("format", "the header of a recording must be its first row");
      recording_.read_header(row);
      return false;
    }
    const bool whole = row.has("calls");
    if (any_ && whole != whole_sequences_) {
      throw row.fault("", "rows of one call and rows of a whole sequence in one file");
    }
    if (whole) {
      take_sequence(row);
    } else if (row.has("fork")) {
      take_fork(row);
    } else if (row.has("end")) {
      take_end(row);
    } else {
      take_call(row);
    }
    whole_sequences_ = whole;
    any_ = true;
    return whole || row.has("feed");
  }

  void finish() {
    folder_.finish();
    recording_.describe(draft_);
  }

 private:
  // A recording says by its format which keys there are; of other files people are told what is not used.
  void look_at_keys(const JsonRow& row, KeyList known) {
    const std::vector<std::string> others = row.others(known);
    if (!others.empty() && recording_.has_header()) throw row.unknown(others.front(), known);
    rows_.leave_unused(others);
  }

  void take_sequence(const JsonRow& row) {
    look_at_keys(row, sequence_keys);
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
      look_at_keys(call, inner_call_keys);
      calls.push_back(read_call(call, length, calls.empty() && !prompt.empty()));
    }
    if (calls.empty()) throw row.fault("calls", "no call at all");

    if (!id.empty()) ids_.emplace(id, row.line());
    const std::string name = "r" + std::to_string(num_sequences_++);
    if (num_sequences_ > 1) recording_.saw_another_sequence();
    draft_.new_sequence(name, std::nullopt);
    folder_.begin(prompt);
    for (const RawCall& call : calls) folder_.add(call);
    folder_.flush();
    draft_.end(name);
  }

  void take_call(const JsonRow& row) {
    look_at_keys(row, call_keys);
    const std::string name = row.has("sequence") ? name_of(row, "sequence") : "main";
    const auto known = lengths_.find(name);
    if (ended_.contains(name)) throw row.fault("sequence", yaml::shown(name) + " has ended");
    const Count before = known == lengths_.end() ? 0 : known->second;
    Count length = before;
    const RawCall call = read_call(row, length, false);
    for (const Count id : call.feed) {
      if (recording_.vocab() && id >= *recording_.vocab()) {
        throw row.fault("feed", "id " + std::to_string(id) + " is not below the header's vocabulary of " +
                                    std::to_string(*recording_.vocab()));
      }
    }
    recording_.see_call(row, call, length);
    if (name != current_) make_current(name, known != lengths_.end(), before);
    folder_.add(call);
    lengths_[name] = length;
  }

  void make_current(const std::string& name, bool known, Count length) {
    folder_.flush();
    if (known) {
      draft_.switch_to(name);
      folder_.resume(length);
    } else {
      draft_.new_sequence(name, std::nullopt);
      folder_.begin({});
      if (num_sequences_++ > 0) recording_.saw_another_sequence();
    }
    current_ = name;
  }

  void take_fork(const JsonRow& row) {
    const JsonRow fork(row.object("fork"), row, "fork");
    look_at_keys(row, fork_row_keys);
    look_at_keys(fork, fork_keys);
    const std::string from = name_of(fork, "from"), as = name_of(fork, "as");
    const auto source = lengths_.find(from);
    if (source == lengths_.end()) throw fork.fault("from", "there is no sequence " + yaml::shown(from));
    if (lengths_.contains(as) || ended_.contains(as)) {
      throw fork.fault("as", "a sequence " + yaml::shown(as) + " has been before");
    }
    folder_.flush();
    draft_.fork(from, as);
    lengths_[as] = source->second;
    recording_.saw_another_sequence();
  }

  void take_end(const JsonRow& row) {
    look_at_keys(row, end_row_keys);
    const std::string name = name_of(row, "end");
    if (!lengths_.contains(name)) throw row.fault("end", "there is no sequence " + yaml::shown(name));
    folder_.flush();
    draft_.end(name);
    lengths_.erase(name);
    ended_.insert(name);
    current_.clear();  // after an end no sequence is current, whichever it was
  }

  TraceRows& rows_;
  WorkloadDraft& draft_;
  CallFolder folder_;
  Recording recording_;
  Count num_sequences_ = 0;
  bool any_ = false, whole_sequences_ = false;
  std::map<std::string, int> ids_;        // line of each id
  std::map<std::string, Count> lengths_;  // of the last list of each sequence that has not ended
  std::set<std::string> ended_;
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
