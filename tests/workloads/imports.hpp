// Short ways to import a text or a slice of a public trace in tests.
#pragma once

#include "workloads/expansion.hpp"
#include "workloads/importers/registry.hpp"
#include "workloads/reader.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace kvreplay::workloads::tests {

inline std::string trace_path(const std::string& name) { return KVREPLAY_SOURCE_DIR "/tests/golden/traces/" + name; }

// A file with `content` that is gone when this is.
class TraceFile {
 public:
  explicit TraceFile(const std::string& content) {
    std::string name = (std::filesystem::temp_directory_path() / "kvreplay-trace-XXXXXX").string();
    const int file = mkstemp(name.data());
    if (file >= 0) close(file);
    path = name;
    std::ofstream(path, std::ios::binary) << content;
  }
  ~TraceFile() {
    std::error_code error;
    std::filesystem::remove(path, error);
  }
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  std::string path;
};

inline importers::Imported import_file(const std::string& format, const std::string& path,
                                       const importers::ImportOptions& options = {}) {
  return importers::import_trace(*importers::find_importer(format), path, options);
}

inline importers::Imported import_text(const std::string& format, const std::string& content,
                                       const importers::ImportOptions& options = {}) {
  const TraceFile file(content);
  return import_file(format, file.path, options);
}

inline Workload workload_of(const importers::Imported& imported) {
  return read_workload_text(imported.text, "imported.yaml");
}

// The events as they are written, one a line.
inline std::string events_of(const importers::Imported& imported) {
  return imported.text.substr(imported.text.find("\nevents:\n") + 9);
}

// What the import is refused with, from the file's name on, which is FILE; "accepted" if it is not.
inline std::string refusal_of(const std::string& format, const std::string& content,
                              const importers::ImportOptions& options = {}) {
  const TraceFile file(content);
  try {
    (void)import_file(format, file.path, options);
  } catch (const InputError& error) {
    std::string message = error.what();
    const auto at = message.find(file.path);
    return at == std::string::npos ? message : message.replace(at, file.path.size(), "FILE");
  }
  return "accepted";
}

using Ledgers = std::vector<std::vector<TokenId>>;

// Every list evaluated, in order.
inline Ledgers evaluated_lists(const Workload& workload) {
  Ledgers lists;
  Expansion expansion(workload);
  while (const Step* step = expansion.next()) {
    if (step->kind == StepKind::evaluate) lists.emplace_back(step->tokens.begin(), step->tokens.end());
  }
  return lists;
}

}  // namespace kvreplay::workloads::tests
