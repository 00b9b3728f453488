// The table of report formats: one format = one .cpp + one row in formats.cpp. `-o FILE` picks by the name's end.
#pragma once

#include "reports/result.hpp"

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kvreplay::reports {

struct Format {
  std::string_view name;
  std::string_view extension;  // with its dot; the longest that fits a file's name wins
  std::string_view meaning;    // one line for `list formats`
  std::string (*write)(const ResultFile& file);
};

std::span<const Format> format_table();

// By its name or its extension without the dot. Null for what nobody has.
const Format* find_format(std::string_view name);

// A file name whose end fits no format; the message lists those there are.
class UnknownFormat : public std::invalid_argument {
 public:
  UnknownFormat(const std::string& path, const std::string& known_extensions);
};

// The format of a path by its file name's end, upper and lower case alike. Throws UnknownFormat.
const Format& format_for_path(const std::string& path);

}  // namespace kvreplay::reports
