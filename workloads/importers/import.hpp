// Turns recorded traffic of other formats into kv-workload/1 files.
//
// Importers read their input once, row by row, in bounded memory; what they write is bounded by the limits of the
// format. The table of formats is in registry.hpp, one .cpp a format, whose opening comment is its rule.
#pragma once

#include "workloads/input_error.hpp"
#include "workloads/workload.hpp"

#include <optional>
#include <string>
#include <vector>

namespace kvreplay::workloads::importers {

struct ImportOptions {
  std::optional<Count> rows = {};       // take at most so many rows (sessions, requests); those left out do not count
  std::optional<Count> max_input = {};  // leave out requests with a longer prompt, counted before scaling
  Count scale = 1;                      // divide all lengths, and the block size, by this
  Count slots = 1;                      // requests under way at the same time
  std::optional<Count> block = {};      // tokens a block hash stands for; absent: the format's own
  bool skip_bad = false;                // count bad rows instead of ending at the first
  std::string id = {}, title = {};      // empty: from the file's name
  std::string licence = "NOASSERTION";
};

// Rows that are not in the workload, or in it otherwise than in the input, and why.
struct ImportNote {
  std::string reason;
  Count rows = 0;
  int first_line = 0;
  std::string example;  // what was wrong with the first one; may be empty
};

struct Imported {
  std::string text;     // a whole kv-workload/1 file that the reader accepts
  Count rows_read = 0;  // blank lines are no rows
  Count rows_taken = 0;
  std::vector<ImportNote> notes;  // in the order they first happened
  // Columns and keys of the input that no rule reads, quoted, in the order they first came; at most
  // max_unused of them.
  std::vector<std::string> unused;
  static constexpr std::size_t max_unused = 20;
};

// An input error no --skip-bad gets past: the workload would break a limit of the format, or the file cannot be read
// on.
class FatalImportError : public InputError {
 public:
  using InputError::InputError;
};

}  // namespace kvreplay::workloads::importers
