#include "workloads/importers/registry.hpp"

#include "workloads/expect_writer.hpp"
#include "workloads/importers/rules.hpp"
#include "workloads/importers/trace_rows.hpp"
#include "workloads/importers/workload_draft.hpp"
#include "workloads/reader.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

namespace kvreplay::workloads::importers {
namespace {

constexpr std::array<Importer, 6> table{{
    {"mooncake", "Mooncake and Bailian (--block 16) request logs with block hashes, JSON lines: a row is a request",
     "--block --max-input --scale --slots", "block-hashes", import_mooncake},
    {"calls-jsonl", "raw recorder streams, JSON lines: calls {keep, feed} folded into append, decode and rewind", "",
     "exact-ids", import_calls_jsonl},
    {"lengths-csv", "Azure, BurstGPT and Vidur request logs, CSV with lengths only: a row is a request",
     "--max-input --scale --slots", "lengths", import_lengths_csv},
    {"accept-histogram", "how many drafts were accepted how often, CSV (accepted, count, drafted): verify steps", "",
     "lengths", import_accept_histogram},
    {"session-csv", "TraceLab session logs, CSV: a session is a sequence, a row a round on its kept prefix",
     "--max-input --scale", "lengths", import_session_csv},
    {"weka", "kv-cache-tester conversations, JSON: one sequence with rewinds, one more for each subagent",
     "--block --max-input --scale", "block-hashes", import_weka},
}};

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

std::string options_text(const ImportOptions& options) {
  std::string text;
  const auto add = [&text](const std::string& option) { text += (text.empty() ? " Options: " : " ") + option; };
  if (options.rows) add("--rows " + std::to_string(*options.rows));
  if (options.max_input) add("--max-input " + std::to_string(*options.max_input));
  if (options.scale != 1) add("--scale " + std::to_string(options.scale));
  if (options.slots != 1) add("--slots " + std::to_string(options.slots));
  if (options.block) add("--block " + std::to_string(*options.block));
  if (options.skip_bad) add("--skip-bad");
  return text.empty() ? text : text + ".";
}

std::string notes_text(const Imported& imported) {
  std::string text;
  for (const ImportNote& note : imported.notes) text += " " + note.reason + ": " + std::to_string(note.rows) + ".";
  return text;
}

}  // namespace

std::span<const Importer> importer_table() { return table; }

const Importer* find_importer(std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const Importer& row) { return row.name == name; });
  return found == table.end() ? nullptr : &*found;
}

Imported import_trace(const Importer& importer, const std::string& path, const ImportOptions& options) {
  TraceRows rows(path, options);
  WorkloadDraft draft(path);
  importer.rule(rows, draft);
  Imported imported;
  rows.finish(imported);
  if (draft.num_events() == 0 || imported.rows_taken == 0) {
    const std::string why = imported.rows_read == 0 ? "there is no row in it." : "no row of it could be taken.";
    throw InputError(path, {}, "", "gives no workload: " + why + notes_text(imported));
  }
  WorkloadDraft::Header header;
  header.id = options.id.empty() ? std::filesystem::path(path).stem().string() : options.id;
  header.title = !options.title.empty()           ? options.title
                 : draft.recorded_title().empty() ? std::string(importer.name) + " trace " + file_name(path)
                                                  : draft.recorded_title();
  header.recorder = "kvreplay-import-" + std::string(importer.name);
  header.source_path = file_name(path);
  header.source_sha256 = rows.sha256();
  header.source_item = std::to_string(imported.rows_taken) + " of " + std::to_string(imported.rows_read) + " rows read";
  header.licence = options.licence;
  header.content = importer.content;
  header.notes = draft.explanation() + options_text(options) + notes_text(imported);
  imported.text = draft.text(header);
  (void)read_workload_text(imported.text, path + ", as imported");
  if (draft.is_recorded()) imported.text = text_with_expect(imported.text, path + ", as imported");
  return imported;
}

}  // namespace kvreplay::workloads::importers
