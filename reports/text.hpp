// Names and numbers as people read them. Everything takes any bytes: names come from files of others.
#pragma once

#include "reports/result.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvreplay::reports {

// The text with every byte sequence that is not UTF-8 replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

// Valid UTF-8 on one line: line breaks and tabs become spaces; other control characters, and those that turn the
// direction of writing, become U+FFFD, so that a name can neither steer a terminal nor disguise itself.
std::string printable(std::string_view text);

// ASCII letters only.
std::string lower_case(std::string_view text);

// Terminal columns of printable text: wide characters count two, combining marks none.
std::size_t display_width(std::string_view text);

// Printable text of at most `width` columns, the middle replaced by an ellipsis where it does not fit: names that share
// a beginning often differ at their ends. width >= 3.
std::string shortened(std::string_view text, std::size_t width);

// Shortened names that stay apart where the full names differ ("long ... name (2)").
std::vector<std::string> shortened_apart(std::span<const std::string> names, std::size_t width);

// Words on lines of at most `width` columns, each line ended: the first begins with `indent`, the others with two
// columns more. A word that is wider is shortened. `text` is printable.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0);

// "1,234,567": the exact number, grouped; independent of the locale.
std::string grouped(Count value);
// "512 B", "1.50 KiB", "504 KiB": three digits, powers of 1024.
std::string human_bytes(Count bytes);
// "950 ns", "1.50 us", "12.3 ms", "2.00 s": three digits.
std::string human_ns(Count ns);
// "1.02" for a ratio; "-" where it is not defined.
std::string human_ratio(std::optional<double> value);

}  // namespace kvreplay::reports
