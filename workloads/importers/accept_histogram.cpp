// accept-histogram: what speculative decoding accepted, CSV with a row per number of accepted drafts: accepted, count
// (how many verifications accepted so many), optionally drafted (the drafts of a verification; without the column it is
// the largest number accepted). It becomes a prompt of 512 tokens, an assumption, one decoded token, and a verify
// event per number of drafts. A histogram has no order, so the verifications are shuffled, always the same way.
#include "workloads/importers/csv_row.hpp"
#include "workloads/importers/rules.hpp"
#include "workloads/importers/trace_rows.hpp"
#include "workloads/importers/workload_draft.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

namespace kvreplay::workloads::importers {
namespace {

constexpr Count max_drafts = 1024;
constexpr Count max_verifications = 1'000'000;

// splitmix64, so that every machine shuffles alike.
std::uint64_t next_random(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

struct Bar {
  Count count = 0;
  int line = 0;
};
// By drafts, then by accepted drafts.
using Histogram = std::map<Count, std::map<Count, Bar>>;

std::vector<Count> shuffled(const std::map<Count, Bar>& bars) {
  std::vector<Count> accepts;
  for (const auto& [accepted, bar] : bars) accepts.insert(accepts.end(), static_cast<std::size_t>(bar.count), accepted);
  std::uint64_t state = 0;
  for (std::size_t left = accepts.size(); left > 1; --left) {
    std::swap(accepts[left - 1], accepts[next_random(state) % left]);
  }
  return accepts;
}

Histogram read_histogram(TraceRows& rows) {
  const CsvHeader header(rows.header(), rows.path());
  const std::size_t accepted_column = header.required({"accepted"});
  const std::size_t count_column = header.required({"count"});
  const std::size_t drafted_column = header.optional({"drafted"});
  rows.leave_unused(header.unused());
  const bool has_drafted = drafted_column != CsvHeader::absent;
  Histogram histogram;
  Count total = 0, most_accepted = 0;
  rows.each([&](const TraceLine& line) {
    const CsvRow row(line, header);
    const Count drafted = has_drafted ? row.whole(drafted_column, 1, max_drafts) : 0;
    const Count accepted = row.whole(accepted_column, 0, has_drafted ? drafted : max_drafts);
    const Count count = row.whole(count_column, 0, max_verifications);
    if (total + count > max_verifications) throw row.fault(count_column, "more than 1000000 verifications in all");
    const auto [bar, is_new] = histogram[drafted].emplace(accepted, Bar{count, line.number});
    if (!is_new) {
      throw row.fault(accepted_column, "counted before, in line " + std::to_string(bar->second.line));
    }
    total += count;
    most_accepted = std::max(most_accepted, accepted);
    return true;
  });
  if (has_drafted || histogram.empty()) return histogram;
  if (most_accepted == 0)
    throw InputError(rows.path(), {}, "", "accepts nothing; a column drafted must say of how many");
  return {{most_accepted, std::move(histogram.begin()->second)}};
}

}  // namespace

void import_accept_histogram(TraceRows& rows, WorkloadDraft& draft) {
  const Histogram histogram = read_histogram(rows);
  Count total = 0;
  for (const auto& [drafted, bars] : histogram) {
    for (const auto& [accepted, bar] : bars) total += bar.count;
  }
  if (total == 0) return;  // no events: the caller says so
  constexpr Count prompt_tokens = 512;
  draft.add_stream("prompt", 21, false);
  draft.add_stream("gen", 22, false);
  draft.add_stream("miss", 23, false);
  draft.explain(
      "A histogram has no order and no prompt: verifications are shuffled, a prompt of 512 tokens is assumed.");
  Tokens prompt, first;
  prompt.add("prompt:" + std::to_string(prompt_tokens), prompt_tokens);
  first.add("gen:1", 1);
  draft.new_sequence("main", std::nullopt);
  draft.append(prompt);
  draft.decode(first);
  Count generated = 1, missed = 0;
  for (const auto& [drafted, bars] : histogram) {
    const std::vector<Count> accepts = shuffled(bars);
    if (accepts.empty()) continue;
    draft.verify(drafted, "gen@" + std::to_string(generated), "miss@" + std::to_string(missed), accepts);
    for (const Count accepted : accepts) {
      generated += accepted + 1;
      missed += drafted - accepted;
    }
  }
  draft.end("main");
}

}  // namespace kvreplay::workloads::importers
