// Reads a text file line by line in bounded memory, and its SHA-256 on the way.
#pragma once

#include "workloads/input_error.hpp"

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace kvreplay::workloads::importers {

struct TraceLine {
  std::string_view text;  // without its line end; valid until the next call of next()
  int number = 0;         // from 1
  bool has_end = true;    // false: the file ends inside this line
};

class TraceLines {
 public:
  // As long as the largest workload file: a longer line would not fit into one.
  static constexpr std::size_t max_line_bytes = std::size_t{16} << 20;

  // Throws InputError if the file cannot be opened.
  explicit TraceLines(const std::string& path);
  ~TraceLines();

  // The next line that is not blank, or nullptr at the end. LF and CRLF end lines; a byte-order mark before the first
  // is dropped. Throws FatalImportError if the file cannot be read on, InputError with the line for one that is too
  // long, not UTF-8, or holds control characters; the call after that goes on with the next line.
  const TraceLine* next();

  const std::string& path() const { return path_; }
  // Lower-case hex, of all bytes of the file; reads what was not read yet.
  std::string sha256();

 private:
  bool fill();
  void leave_long_line();
  bool read_line();

  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> digest_;
  std::string chunk_;
  std::size_t at_ = 0;         // in chunk_
  std::string long_line_;      // a line that crosses a chunk
  bool in_long_line_ = false;  // the rest of one that was refused has not been passed over
  TraceLine line_;
};

}  // namespace kvreplay::workloads::importers
