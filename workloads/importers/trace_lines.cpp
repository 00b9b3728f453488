#include "workloads/importers/trace_lines.hpp"

#include "workloads/importers/import.hpp"
#include "workloads/yaml/source_text.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>

namespace kvreplay::workloads::importers {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 16;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// Throws for the first character that is no text. Lines of plain ASCII, which is nearly all, cost one pass.
void check_text(std::string_view text, const std::string& path, int line) {
  const auto is_plain = [](char c) { return (c >= ' ' && c <= '~') || c == '\t'; };
  int column = 1;
  for (std::size_t at = 0; at < text.size(); ++column) {
    if (is_plain(text[at])) {
      ++at;
      continue;
    }
    std::size_t bytes = 0;
    const std::string fault = yaml::fault_of_character(text, at, bytes);
    if (!fault.empty()) throw InputError(path, {line, column}, "", fault);
    at += bytes;
  }
}

}  // namespace

TraceLines::TraceLines(const std::string& path)
    : path_(path), file_(nullptr, &std::fclose), digest_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw InputError(path, {}, "", "is a directory, expected a file");
  file_.reset(std::fopen(path.c_str(), "rb"));
  if (!file_) {
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    throw InputError(path, {}, "", missing ? "file not found" : std::string("cannot be read: ") + std::strerror(errno));
  }
  if (!digest_ || EVP_DigestInit_ex(digest_.get(), EVP_sha256(), nullptr) != 1) throw std::bad_alloc();
}

TraceLines::~TraceLines() = default;

// False at the end of the file.
bool TraceLines::fill() {
  chunk_.resize(chunk_bytes);
  const std::size_t got = std::fread(chunk_.data(), 1, chunk_bytes, file_.get());
  if (std::ferror(file_.get())) {
    throw FatalImportError(path_, {line_.number + 1, 0}, "", std::string("cannot be read: ") + std::strerror(errno));
  }
  chunk_.resize(got);
  at_ = 0;
  if (got > 0) EVP_DigestUpdate(digest_.get(), chunk_.data(), got);
  return got > 0;
}

// The rest of a line that was too long, which is passed over only if somebody wants the next one: it may have no end.
void TraceLines::leave_long_line() {
  while (in_long_line_ && (at_ < chunk_.size() || fill())) {
    const std::size_t end = chunk_.find('\n', at_);
    in_long_line_ = end == std::string::npos;
    at_ = in_long_line_ ? chunk_.size() : end + 1;
  }
  in_long_line_ = false;
}

// Puts the next line into line_; false if there is none. Throws for a line that is too long.
bool TraceLines::read_line() {
  leave_long_line();
  long_line_.clear();
  bool any = false;
  while (at_ < chunk_.size() || fill()) {
    const std::size_t end = chunk_.find('\n', at_);
    const std::size_t stop = end == std::string::npos ? chunk_.size() : end;
    const std::string_view piece = std::string_view(chunk_).substr(at_, stop - at_);
    if (!any) ++line_.number;
    const bool whole = !any && end != std::string::npos;
    any = true;
    at_ = end == std::string::npos ? stop : stop + 1;
    if (whole) {
      line_.text = piece;
      line_.has_end = true;
      return true;
    }
    if (long_line_.size() + piece.size() > max_line_bytes) {
      in_long_line_ = end == std::string::npos;
      throw InputError(path_, {line_.number, 0}, "",
                       "a line of more than 16 MiB (16777216 bytes), the longest allowed");
    }
    long_line_ += piece;
    if (end == std::string::npos) continue;
    line_.text = long_line_;
    line_.has_end = true;
    return true;
  }
  line_.text = long_line_;
  line_.has_end = false;
  return any;
}

const TraceLine* TraceLines::next() {
  while (read_line()) {
    if (line_.number == 1 && line_.text.starts_with(byte_order_mark)) line_.text.remove_prefix(byte_order_mark.size());
    if (line_.has_end && line_.text.ends_with('\r')) line_.text.remove_suffix(1);
    check_text(line_.text, path_, line_.number);
    if (line_.text.find_first_not_of(" \t") != std::string_view::npos) return &line_;
  }
  return nullptr;
}

std::string TraceLines::sha256() {
  while (fill()) continue;
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
  EVP_DigestFinal_ex(digest_.get(), bytes.data(), &size);
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    text += digits[bytes[i] >> 4];
    text += digits[bytes[i] & 15];
  }
  return text;
}

}  // namespace kvreplay::workloads::importers
