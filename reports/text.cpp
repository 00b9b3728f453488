#include "reports/text.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view ellipsis = "\xE2\x80\xA6";     // U+2026

struct CodePoint {
  char32_t value = 0;
  std::size_t num_bytes = 1;
  bool valid = false;
};

bool continues(std::string_view text, std::size_t i) {
  return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U;
}

// The code point at the front of non-empty text. Not valid: overlong forms, surrogates, above U+10FFFF, cut sequences
// (then num_bytes covers what belongs to the broken sequence).
CodePoint first_code_point(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t length = lead >= 0xF0 && lead <= 0xF4  ? 4
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xC2 && lead < 0xE0 ? 2
                                                           : 0;
  if (length == 0) return {};
  constexpr std::array<char32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
  char32_t value = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (!continues(text, i)) return {0, i, false};
    value = (value << 6) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  return {value, length, value >= smallest[length] && value <= 0x10FFFF && !surrogate};
}

template <typename Visit>
void for_each_code_point(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    visit(point, text.substr(0, point.num_bytes));
    text.remove_prefix(point.num_bytes);
  }
}

struct Range {
  char32_t first, last;
};

bool lies_in(char32_t value, std::span<const Range> ranges) {
  return std::any_of(ranges.begin(), ranges.end(), [&](Range r) { return value >= r.first && value <= r.last; });
}

// Marks of writing direction, line and paragraph separators, byte order mark, controls.
constexpr std::array unprintable{Range{0x00, 0x1F},     Range{0x7F, 0x9F},     Range{0x061C, 0x061C},
                                 Range{0x200E, 0x200F}, Range{0x2028, 0x202E}, Range{0x2066, 0x2069},
                                 Range{0xFEFF, 0xFEFF}};
constexpr std::array zero_width{Range{0x0300, 0x036F}, Range{0x200B, 0x200D}, Range{0x20D0, 0x20FF},
                                Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F}, Range{0x1F3FB, 0x1F3FF}};
constexpr std::array double_width{Range{0x1100, 0x115F},   Range{0x2E80, 0x303E},   Range{0x3041, 0xA4CF},
                                  Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},   Range{0xFE30, 0xFE6F},
                                  Range{0xFF00, 0xFF60},   Range{0xFFE0, 0xFFE6},   Range{0x1F300, 0x1F64F},
                                  Range{0x1F680, 0x1F6FF}, Range{0x1F900, 0x1F9FF}, Range{0x20000, 0x3FFFD}};

std::size_t width_of(char32_t value) {
  if (lies_in(value, zero_width)) return 0;
  return lies_in(value, double_width) ? 2 : 1;
}

// Code points from the front whose widths add up to at most `width`.
std::string_view head(std::string_view text, std::size_t width) {
  std::size_t used = 0, bytes = 0;
  bool full = false;
  for_each_code_point(text, [&](const CodePoint& point, std::string_view part) {
    full = full || used + width_of(point.value) > width;
    if (full) return;
    used += width_of(point.value);
    bytes += part.size();
  });
  return text.substr(0, bytes);
}

std::string_view tail(std::string_view text, std::size_t width) {
  for (std::size_t used = display_width(text); used > width;) {
    const CodePoint point = first_code_point(text);
    used -= width_of(point.value);
    text.remove_prefix(point.num_bytes);
  }
  return text;
}

// Three digits and the first unit in which the rounded value stays below `step`.
std::string scaled(double value, double step, std::span<const std::string_view> units) {
  std::size_t unit = 0;
  for (; value >= step - 0.5 && unit + 1 < units.size(); ++unit) value /= step;
  if (value >= 9999.5) return fmt::format("{} {}", grouped(static_cast<Count>(value)), units[unit]);
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, units[unit]);
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for_each_code_point(
      text, [&](const CodePoint& point, std::string_view part) { result += point.valid ? part : replacement; });
  return result;
}

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for_each_code_point(text, [&](const CodePoint& point, std::string_view part) {
    if (part == "\n" || part == "\r" || part == "\t") {
      result += ' ';
    } else {
      result += !point.valid || lies_in(point.value, unprintable) ? replacement : part;
    }
  });
  return result;
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for_each_code_point(text, [&](const CodePoint& point, std::string_view) { width += width_of(point.value); });
  return width;
}

std::string shortened(std::string_view text, std::size_t width) {
  std::string line = printable(text);
  if (display_width(line) <= width) return line;
  const std::size_t front = width / 2;
  // The end is cut from a bounded piece: names of megabytes cost no more than long ones.
  std::string_view end = line;
  if (end.size() > 4 * width) end.remove_prefix(end.size() - 4 * width);
  while (continues(end, 0)) end.remove_prefix(1);
  return fmt::format("{}{}{}", head(line, front), ellipsis, tail(end, width - 1 - front));
}

std::vector<std::string> shortened_apart(std::span<const std::string> names, std::size_t width) {
  std::vector<std::string> result;
  std::map<std::string_view, std::string> shown;
  std::set<std::string> taken;
  for (const std::string& name : names) {
    const auto [entry, is_new] = shown.try_emplace(name);
    if (is_new) {
      entry->second = shortened(name, width);
      for (int copy = 2; !taken.insert(entry->second).second; ++copy) {
        const std::string suffix = fmt::format(" ({})", copy);
        entry->second = shortened(name, std::max(width, suffix.size() + 3) - suffix.size()) + suffix;
      }
    }
    result.push_back(entry->second);
  }
  return result;
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  constexpr std::size_t later_indent = 2, least_width = 20;
  width = std::max(width, indent + later_indent + least_width);
  std::string out, line(indent, ' ');
  bool line_has_words = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = shortened(text.substr(at, end - at), width - indent - later_indent);
    at = end + 1;
    if (line_has_words && display_width(line) + 1 + display_width(word) > width) {
      out += line + '\n';
      line.assign(indent + later_indent, ' ');
      line_has_words = false;
    }
    if (line_has_words) line += ' ';
    line += word;
    line_has_words = true;
  }
  return out + line + '\n';
}

std::string grouped(Count value) {
  std::string digits = fmt::format("{}", value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t end = digits.size(); end > first + 3;) {
    end -= 3;
    digits.insert(end, 1, ',');
  }
  return digits;
}

std::string human_bytes(Count bytes) {
  constexpr std::array<std::string_view, 6> units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", grouped(bytes));
  return scaled(static_cast<double>(bytes) / 1024, 1024, units);
}

std::string human_ns(Count ns) {
  constexpr std::array<std::string_view, 3> units{"us", "ms", "s"};
  if (ns < 1000) return fmt::format("{} ns", grouped(ns));
  return scaled(static_cast<double>(ns) / 1000, 1000, units);
}

std::string human_ratio(std::optional<double> value) {
  if (!value) return "-";
  return fmt::format("{:.2f}", *value);
}

}  // namespace kvreplay::reports
