#include "workloads/yaml/source_text.hpp"

#include "workloads/input_error.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

namespace kvreplay::workloads::yaml {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

[[noreturn]] void fail_file(const std::string& path, const std::string& problem) {
  throw InputError(path, {}, "", problem);
}

// Length of the UTF-8 character that begins here, 0 if there is none (overlong forms and surrogates included).
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto follows = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xC0) == 0x80; };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return follows(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (!follows(1) || !follows(2)) return 0;
    if (lead == 0xE0 && byte(1) < 0xA0) return 0;
    if (lead == 0xED && byte(1) >= 0xA0) return 0;
    return 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    if (lead == 0xF0 && byte(1) < 0x90) return 0;
    if (lead == 0xF4 && byte(1) >= 0x90) return 0;
    return 4;
  }
  return 0;
}

bool is_plain(char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\t'; }

std::string hex_byte(char c) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  const auto value = static_cast<unsigned char>(c);
  return {digits[value >> 4], digits[value & 15]};
}

}  // namespace

std::string fault_of_character(std::string_view text, std::size_t at, std::size_t& bytes) {
  bytes = character_bytes(text.substr(at));
  const char c = text[at];
  if (bytes == 0) {
    const bool utf16 = at == 0 && (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"));
    return "not valid UTF-8 (byte 0x" + hex_byte(c) + (utf16 ? "); the file looks like UTF-16" : ")");
  }
  if (c == '\r') return text.substr(at, 2) == "\r\n" ? "" : "a carriage return that is not part of a CRLF line end";
  if (c == '\0') return "a NUL byte; the file is not text";
  if (bytes == 1 && !is_plain(c)) return "control character 0x" + hex_byte(c);
  return "";
}

std::string read_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail_file(path, "is a directory, expected a file");
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) {
    if (errno == ENOENT || errno == ENOTDIR) fail_file(path, "file not found");
    fail_file(path, std::string("cannot be read: ") + std::strerror(errno));
  }
  constexpr std::size_t chunk = 1u << 16;
  std::string bytes;
  while (true) {
    const std::size_t before = bytes.size();
    bytes.resize(before + chunk);
    const std::size_t got = std::fread(bytes.data() + before, 1, chunk, file.get());
    bytes.resize(before + got);
    if (bytes.size() > max_file_bytes) fail_file(path, "larger than 16 MiB (16777216 bytes), the largest allowed");
    if (got < chunk) break;
  }
  if (std::ferror(file.get())) fail_file(path, std::string("cannot be read: ") + std::strerror(errno));
  return bytes;
}

std::string normalised_text(std::string_view bytes, const std::string& file) {
  if (bytes.size() > max_file_bytes) fail_file(file, "larger than 16 MiB (16777216 bytes), the largest allowed");
  if (bytes.starts_with(byte_order_mark)) bytes.remove_prefix(byte_order_mark.size());
  std::string text;
  text.reserve(bytes.size());
  SourceMark mark{1, 1};
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t plain_end = static_cast<std::size_t>(
        std::find_if_not(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end(), is_plain) - bytes.begin());
    const std::string_view plain = bytes.substr(at, plain_end - at);
    text += plain;
    mark.line += static_cast<int>(std::count(plain.begin(), plain.end(), '\n'));
    const std::size_t last_end = plain.rfind('\n');
    mark.column = last_end == std::string_view::npos ? mark.column + static_cast<int>(plain.size())
                                                     : static_cast<int>(plain.size() - last_end);
    at = plain_end;
    if (at == bytes.size()) break;
    std::size_t length = 0;
    const std::string fault = fault_of_character(bytes, at, length);
    if (!fault.empty()) throw InputError(file, mark, "", fault);
    if (bytes[at] != '\r') {
      text += bytes.substr(at, length);
      ++mark.column;
    }
    at += length;
  }
  return text;
}

std::string shown(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string quoted = "'";
  std::size_t end = std::min(text.size(), longest);
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  for (const char c : text.substr(0, end))
    quoted += c == '\n' || c == '\t' ? ' ' : is_plain(c) || static_cast<unsigned char>(c) >= 0x80 ? c : '?';
  return quoted + (end < text.size() ? "...'" : "'");
}

}  // namespace kvreplay::workloads::yaml
