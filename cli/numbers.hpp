// Numbers on the command line, read strictly and whatever the locale.
#pragma once

#include <cstdint>
#include <string>

namespace kvreplay::cli {

// A plain decimal integer in [least, most]. Throws OptionError naming the option, what it takes and what it got.
std::int64_t parse_count(const std::string& option, const std::string& text, std::int64_t least, std::int64_t most);

// Bytes: an integer with an optional unit B, KiB, MiB, GiB or TiB.
std::int64_t parse_bytes(const std::string& option, const std::string& text);

// A positive finite decimal number.
double parse_positive(const std::string& option, const std::string& text);

}  // namespace kvreplay::cli
