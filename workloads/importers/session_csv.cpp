// session-csv: agent sessions as TraceLab (uw-syfi/TraceLab, replay/examples) writes them, one round a row: session_id,
// round_idx, prefix_len, input_len, output_len, optional arrival_time (milliseconds) and tool_wait_after_ms.
//
// A session is a sequence. A round rewinds to prefix_len, appends input_len tokens, decodes output_len and waits. Where
// prefix_len is more than the session has so far (its first rounds happened elsewhere), new tokens stand for the
// rest. The rows of a session follow each other; the rounds count upwards, arrival times do not run backwards.
// --max-input (prefix and input together) ends a session at its first round that is longer.
#include "workloads/importers/clock.hpp"
#include "workloads/importers/csv_row.hpp"
#include "workloads/importers/lengths.hpp"
#include "workloads/importers/rules.hpp"
#include "workloads/importers/trace_rows.hpp"
#include "workloads/importers/workload_draft.hpp"
#include "workloads/yaml/source_text.hpp"

#include <map>

namespace kvreplay::workloads::importers {
namespace {

struct Columns {
  explicit Columns(const CsvHeader& header)
      : session(header.required({"session_id"})),
        round(header.required({"round_idx"})),
        prefix(header.required({"prefix_len"})),
        input(header.required({"input_len"})),
        output(header.required({"output_len"})),
        arrival(header.optional({"arrival_time"})),
        wait(header.optional({"tool_wait_after_ms"})) {}
  std::size_t session, round, prefix, input, output, arrival, wait;
};

struct Round {
  std::string session;
  Count number = 0, prefix = 0, input = 0, output = 0;
  std::optional<double> arrival;
  double wait_ms = 0;
};

Round read_round(const CsvRow& row, const Columns& columns) {
  Round round;
  round.session = row.text(columns.session);
  if (round.session.empty()) throw row.fault(columns.session, "expected the session's name");
  round.number = row.whole(columns.round, 0);
  round.prefix = row.whole(columns.prefix, 0, max_length);
  round.input = row.whole(columns.input, 0, max_length);
  round.output = row.whole(columns.output, 0, max_length);
  if (round.prefix + round.input == 0) throw row.fault(columns.input, "a round without prefix and input");
  if (columns.arrival != CsvHeader::absent) round.arrival = row.number(columns.arrival, 0);
  if (columns.wait != CsvHeader::absent) round.wait_ms = row.number(columns.wait, 0);
  return round;
}

class SessionImport {
 public:
  SessionImport(TraceRows& rows, WorkloadDraft& draft) : rows_(rows), draft_(draft) {
    draft.add_stream("in", 49, true);
    draft.add_stream("gen", 47, true);
    draft.add_stream("before", 50, true);
    draft.explain("Lengths only; what a session held before its first round is generated.");
  }

  bool take(const CsvRow& row, const Columns& columns) {
    draft_.set_line(row.line());
    const Round round = read_round(row, columns);
    if (round.session != session_) {
      check_new(row, columns, round);
      finish();
      session_ = round.session;
      lines_.emplace(session_, row.line());
      too_long_ = false;
    } else if (round.number <= last_round_) {
      throw row.fault(columns.round, "not behind the session's round before");
    }
    last_round_ = round.number;
    if (too_long_ || !rows_.keeps_input(round.prefix + round.input, row.line())) {
      if (too_long_) rows_.note("rounds behind one that was left out", row.line());
      too_long_ = true;
      return false;
    }
    write(round, row.line());
    return true;
  }

  // Ends the session under way.
  void finish() {
    if (open_) draft_.end(name_);
    open_ = false;
  }

 private:
  void check_new(const CsvRow& row, const Columns& columns, const Round& round) {
    const auto earlier = lines_.find(round.session);
    if (earlier != lines_.end()) {
      throw row.fault(columns.session,
                      "its rows do not follow each other, it began in line " + std::to_string(earlier->second));
    }
    if (!clock_.is_in_order(round.arrival)) throw row.fault(columns.arrival, Clock::problem);
  }

  void write(const Round& round, int line) {
    if (!open_) {
      name_ = "s" + std::to_string(num_sessions_++);
      draft_.new_sequence(name_, clock_.since_start(round.arrival, 1));
      open_ = true;
      length_ = 0;
    }
    const Count prefix = rows_.scaled(round.prefix), input = rows_.scaled(round.input),
                output = rows_.scaled(round.output);
    if (prefix < length_) draft_.rewind_to(prefix);
    if (prefix > length_) {
      rows_.note("rounds whose prefix is longer than the session so far; new tokens stand for the rest", line);
      draft_.append(slice("before", num_rounds_, prefix - length_));
    }
    if (input > 0) draft_.append(slice("in", num_rounds_, input));
    if (output > 0) {
      draft_.decode(slice("gen", num_rounds_, output));
    } else {
      draft_.eval(false);
    }
    if (round.wait_ms > 0) draft_.wait(round.wait_ms);
    length_ = prefix + input + output;
    ++num_rounds_;
  }

  TraceRows& rows_;
  WorkloadDraft& draft_;
  Clock clock_;
  std::map<std::string, int> lines_;  // first line of each session
  std::string session_, name_;
  bool open_ = false, too_long_ = false;
  Count last_round_ = 0, length_ = 0;
  std::uint64_t num_rounds_ = 0, num_sessions_ = 0;
};

}  // namespace

void import_session_csv(TraceRows& rows, WorkloadDraft& draft) {
  const CsvHeader header(rows.header(), rows.path());
  const Columns columns(header);
  rows.leave_unused(header.unused());
  SessionImport import(rows, draft);
  rows.each([&](const TraceLine& line) { return import.take(CsvRow(line, header), columns); });
  import.finish();
}

}  // namespace kvreplay::workloads::importers
