// lengths-csv: request logs that give lengths only, one request a row, whatever the order of the columns:
//
//   Azure (Azure/AzurePublicDataset)   TIMESTAMP, ContextTokens, GeneratedTokens
//   BurstGPT (HPMLL/BurstGPT)          Timestamp, Request tokens, Response tokens
//   Vidur (microsoft/vidur)            arrived_at (optional), num_prefill_tokens, num_decode_tokens
//
// A row is new, append, decode, end; no two prompts share anything, because nothing is known of it. Times are seconds
// or YYYY-MM-DD HH:MM:SS.fraction; the first row taken is time 0. Rows without a prompt or without an answer (failures
// in BurstGPT) are left out.
#include "workloads/importers/clock.hpp"
#include "workloads/importers/csv_row.hpp"
#include "workloads/importers/lengths.hpp"
#include "workloads/importers/requests.hpp"
#include "workloads/importers/rules.hpp"
#include "workloads/importers/trace_rows.hpp"

#include <charconv>
#include <chrono>
#include <optional>

namespace kvreplay::workloads::importers {
namespace {

// "2023-11-16 18:17:03.9799600" as seconds since 1970, or nothing.
std::optional<double> seconds_of_date(std::string_view text) {
  constexpr std::string_view shape = "dddd-dd-dd dd:dd:dd";
  if (text.size() < shape.size()) return std::nullopt;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool fits = shape[i] == 'd'   ? text[i] >= '0' && text[i] <= '9'
                      : shape[i] == ' ' ? text[i] == ' ' || text[i] == 'T'
                                        : text[i] == shape[i];
    if (!fits) return std::nullopt;
  }
  const auto field = [&](std::size_t at, std::size_t digits) {
    unsigned value = 0;
    for (const char c : text.substr(at, digits)) value = value * 10 + static_cast<unsigned>(c - '0');
    return value;
  };
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(field(0, 4))),
                                         std::chrono::month(field(5, 2)), std::chrono::day(field(8, 2))};
  const unsigned hour = field(11, 2), minute = field(14, 2), second = field(17, 2);
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  double fraction = 0;
  const std::string_view rest = text.substr(shape.size());
  if (!rest.empty()) {
    if (rest[0] != '.' || rest.find_first_not_of("0123456789", 1) != std::string_view::npos) return std::nullopt;
    const std::string digits = "0" + std::string(rest);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), fraction);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  }
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return static_cast<double>(days * 86400LL + hour * 3600 + minute * 60 + second) + fraction;
}

double time_of(const CsvRow& row, std::size_t column) {
  if (const auto seconds = seconds_of_date(row.text(column))) return *seconds;
  if (row.text(column).find_first_of(":") == std::string::npos) return row.number(column, 0);
  throw row.fault(column, "expected seconds or YYYY-MM-DD HH:MM:SS");
}

}  // namespace

void import_lengths_csv(TraceRows& rows, WorkloadDraft& draft) {
  const CsvHeader header(rows.header(), rows.path());
  const std::size_t input =
      header.required({"ContextTokens", "Request tokens", "num_prefill_tokens", "input_length", "prompt_tokens"});
  const std::size_t output = header.required(
      {"GeneratedTokens", "Response tokens", "num_decode_tokens", "output_length", "completion_tokens"});
  const std::size_t time = header.optional({"timestamp", "arrived_at", "arrival_time"});
  rows.leave_unused(header.unused());
  draft.add_stream("in", 49, true);
  draft.explain("Lengths only: prompts and answers are generated tokens, no two share a prefix.");
  Requests requests(draft, rows.options().slots);
  Clock clock;
  std::uint64_t taken = 0;
  rows.each([&](const TraceLine& line) {
    draft.set_line(line.number);
    const CsvRow row(line, header);
    const Count prompt = row.whole(input, 0, max_length);
    const Count answer = row.whole(output, 0, max_length);
    std::optional<double> at;
    if (time != CsvHeader::absent) at = time_of(row, time);
    if (!clock.is_in_order(at)) throw row.fault(time, Clock::problem);
    if (prompt == 0 || answer == 0) {
      rows.note(prompt == 0 ? "no prompt" : "no answer", line.number);
      return false;
    }
    if (!rows.keeps_input(prompt, line.number)) return false;
    constexpr double ms_per_second = 1000;
    requests.add(clock.since_start(at, ms_per_second), slice("in", taken++, rows.scaled(prompt)), rows.scaled(answer));
    return true;
  });
  requests.finish();
}

}  // namespace kvreplay::workloads::importers
