// Bytes of an input file, checked to be text before a YAML reader sees them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kvreplay::workloads::yaml {

inline constexpr std::size_t max_file_bytes = 16u << 20;

// The bytes of a file of at most max_file_bytes. Throws InputError: not found, a directory, unreadable, too large.
std::string read_file(const std::string& path);

// The text without byte-order mark and with LF line ends. Throws InputError with line and column for text that is not
// UTF-8, control characters (NUL among them) and carriage returns that are not part of CRLF.
std::string normalised_text(std::string_view bytes, const std::string& file);

// What is wrong with the character at `at` as text, empty if nothing is; `bytes` becomes its length.
std::string fault_of_character(std::string_view text, std::size_t at, std::size_t& bytes);

// Text for a message: quoted, control characters replaced, cut after 40 bytes.
std::string shown(std::string_view text);

}  // namespace kvreplay::workloads::yaml
