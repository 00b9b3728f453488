// weka: conversations with block hashes as kv-cache-tester (callanjfox/kv-cache-tester, traces/) records them, one JSON
// document a file: requests of {t, in, out, hash_ids, think_time}, block_size; an entry with requests of its own is a
// subagent.
//
// The conversation is one sequence. A request waits think_time (seconds), rewinds to the blocks its prompt shares with
// the one before, appends the others and decodes the answer. A subagent is a new sequence, after which the conversation
// goes on. Only whole blocks are hashed: the tokens behind them, and answers, are tokens of their own. Such a
// conversation is 10 to 100 times too long for a CPU; --scale divides lengths and blocks (take a smaller window with
// it, or where the window is crossed changes). --rows counts requests.
#include "workloads/importers/block_prompt.hpp"
#include "workloads/importers/clock.hpp"
#include "workloads/importers/lengths.hpp"
#include "workloads/importers/rules.hpp"
#include "workloads/importers/trace_rows.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace kvreplay::workloads::importers {
namespace {

constexpr std::array<std::string_view, 2> document_keys{"block_size", "requests"};
constexpr std::array<std::string_view, 5> request_keys{"t", "in", "out", "hash_ids", "think_time"};

// A sequence under way.
struct Conversation {
  std::string name;
  std::vector<Count> hashes;  // of the last prompt
  Count hashed_length = 0;    // of it, before scaling
  Count length = 0;           // of the ledger
  Clock clock;
};

class WekaImport {
 public:
  WekaImport(TraceRows& rows, WorkloadDraft& draft, Count block) : rows_(rows), draft_(draft), block_(block) {}

  void take_requests(const JsonRow& owner, Conversation& conversation) {
    Count index = 0;
    for (const nlohmann::json& item : owner.list("requests")) {
      if (!rows_.wants_more()) return;
      const std::string place = "requests[" + std::to_string(index++) + "]";
      if (item.is_object() && item.contains("requests")) {
        take_subagent(JsonRow(item, owner, place), conversation);
      } else {
        rows_.take_row(owner.line(), [&] { return take_request(JsonRow(item, owner, place), conversation); });
      }
    }
  }

 private:
  void take_subagent(const JsonRow& row, const Conversation& outer) {
    rows_.leave_unused(row.others(document_keys));
    Conversation agent{.name = "agent_" + std::to_string(++num_agents_), .hashes = {}, .clock = {}};
    draft_.new_sequence(agent.name, std::nullopt);
    take_requests(row, agent);
    draft_.end(agent.name);
    draft_.switch_to(outer.name);
  }

  bool take_request(const JsonRow& row, Conversation& conversation) {
    rows_.leave_unused(row.others(request_keys));
    const BlockPrompt prompt = read_block_prompt(row, "in", block_);
    const Count answer = row.whole("out", 0, max_length);
    const double think_seconds = row.number("think_time", 0).value_or(0);
    if (!conversation.clock.is_in_order(row.number("t", 0))) throw row.fault("t", Clock::problem);
    if (!rows_.keeps_input(prompt.length, row.line())) return false;

    const auto [ours, theirs] = std::mismatch(prompt.hashes.begin(), prompt.hashes.end(), conversation.hashes.begin(),
                                              conversation.hashes.end());
    // A last block that is not full on either side is not shared for certain.
    const Count whole_blocks = std::min(prompt.hashed_length, conversation.hashed_length) / block_;
    const Count shared = std::min<Count>(ours - prompt.hashes.begin(), whole_blocks);
    const Count keep = shared * (block_ / rows_.options().scale);
    constexpr double ms_per_second = 1000;
    if (conversation.length > 0 && think_seconds > 0) draft_.wait(think_seconds * ms_per_second);
    if (keep < conversation.length) draft_.rewind_to(keep);
    const Tokens added = prompt_tokens(prompt, block_, rows_.options().scale, num_requests_, keep);
    if (added.count > 0) draft_.append(added);
    const Count answered = rows_.scaled(answer);
    if (answered > 0) {
      draft_.decode(slice("gen", num_requests_, answered));
    } else {
      draft_.eval(false);
    }
    ++num_requests_;
    conversation.hashes = prompt.hashes;
    conversation.hashed_length = prompt.hashed_length;
    conversation.length = keep + added.count + answered;
    return true;
  }

  TraceRows& rows_;
  WorkloadDraft& draft_;
  Count block_;
  Count num_agents_ = 0;
  std::uint64_t num_requests_ = 0;
};

}  // namespace

void import_weka(TraceRows& rows, WorkloadDraft& draft) {
  const std::string text = rows.document();
  if (text.empty()) throw InputError(rows.path(), {}, "", "empty");
  const JsonRow document({text, 1, false}, rows.path());
  rows.leave_unused(document.others(document_keys));
  constexpr Count largest_block = 1 << 20;
  const Count own_block = rows.options().block ? *rows.options().block : document.whole("block_size", 1, largest_block);
  const Count block = block_of(rows.options(), own_block, rows.path());
  add_block_streams(draft);
  draft.add_stream("gen", 47, true);
  draft.explain("Blocks of " + std::to_string(block) +
                " tokens; answers and tokens behind the last whole block are tokens "
                "of their own.");
  WekaImport import(rows, draft, block);
  Conversation conversation{.name = "main", .hashes = {}, .clock = {}};
  draft.new_sequence(conversation.name, std::nullopt);
  import.take_requests(document, conversation);
}

}  // namespace kvreplay::workloads::importers
