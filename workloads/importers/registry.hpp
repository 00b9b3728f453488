// The table of import formats: one format = one .cpp + one row in registry.cpp + its test.
#pragma once

#include "workloads/importers/import.hpp"

#include <span>
#include <string>
#include <string_view>

namespace kvreplay::workloads::importers {

class TraceRows;
class WorkloadDraft;

// Reads rows and writes events into the draft. Throws InputError.
using ImportRule = void (*)(TraceRows& rows, WorkloadDraft& draft);

struct Importer {
  std::string_view name;
  std::string_view summary;  // one line for people: whose traces, and what becomes of a row
  std::string_view options;  // those it takes besides --rows, --skip-bad, --id, --title and --licence
  std::string_view content;  // meta.content of what it writes
  ImportRule rule;
};

// All rows, in the order of the table.
std::span<const Importer> importer_table();
// nullptr: no format is called so.
const Importer* find_importer(std::string_view name);

// Imports a file and reads the result back with the project's own reader. Throws InputError: FILE:LINE and what is
// wrong there; FatalImportError where the workload outgrows the format.
Imported import_trace(const Importer& importer, const std::string& path, const ImportOptions& options);

}  // namespace kvreplay::workloads::importers
