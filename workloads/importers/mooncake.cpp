// mooncake: request logs with prefix-block hashes, as Mooncake (kvcache-ai/Mooncake, FAST25-release/traces) and
// Alibaba's Bailian (alibaba-edu/qwen-bailian-usagetraces-anon, with --block 16) publish them. One JSON object a line:
// timestamp, input_length, output_length, hash_ids.
//
// A row is one request: new, append of its blocks, decode of its answer, end. Two rows share a prefix exactly as far as
// their leading hashes agree. Answers are tokens of their own, so a later prompt that repeats one shares nothing with
// it but its blocks. Mooncake's timestamp is in milliseconds, Bailian's (rows that have a chat_id) in seconds; the
// first row taken is time 0. --scale divides all lengths and the block size, which keeps every sharing.
#include "workloads/importers/block_prompt.hpp"
#include "workloads/importers/clock.hpp"
#include "workloads/importers/lengths.hpp"
#include "workloads/importers/requests.hpp"
#include "workloads/importers/rules.hpp"
#include "workloads/importers/trace_rows.hpp"

#include <array>
#include <string_view>

namespace kvreplay::workloads::importers {
namespace {

constexpr std::array<std::string_view, 5> used_keys{"timestamp", "input_length", "output_length", "hash_ids",
                                                    "chat_id"};

}  // namespace

void import_mooncake(TraceRows& rows, WorkloadDraft& draft) {
  constexpr Count own_block = 512;
  const Count block = block_of(rows.options(), own_block, rows.path());
  add_block_streams(draft);
  draft.explain("Blocks of " + std::to_string(block) + " tokens; answers are tokens of their own.");
  Requests requests(draft, rows.options().slots);
  Clock clock;
  std::uint64_t taken = 0;
  rows.each([&](const TraceLine& line) {
    draft.set_line(line.number);
    const JsonRow row(line, rows.path());
    rows.leave_unused(row.others(used_keys));
    const BlockPrompt prompt = read_block_prompt(row, "input_length", block);
    const Count answer = row.whole("output_length", 0, max_length);
    const std::optional<double> time = row.number("timestamp", 0);
    if (!clock.is_in_order(time)) throw row.fault("timestamp", Clock::problem);
    if (!rows.keeps_input(prompt.length, line.number)) return false;
    constexpr double ms_per_second = 1000;
    const std::optional<double> at_ms = clock.since_start(time, row.has("chat_id") ? ms_per_second : 1);
    requests.add(at_ms, prompt_tokens(prompt, block, rows.options().scale, taken++, 0), rows.scaled(answer));
    return true;
  });
  requests.finish();
}

}  // namespace kvreplay::workloads::importers
