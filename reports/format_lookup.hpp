// How a format is found in a table of them: by what stands before the colon of -o, or by the end of a file's name.
#pragma once

#include "reports/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

namespace kvreplay::reports {

// Rows have a `name` and an `extension` with its dot; either names the format (markdown, md). Null for neither.
template <class Row>
const Row* row_named(std::span<const Row> table, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(), [name](const Row& row) {
    return row.name == name || row.extension.substr(1) == name;
  });
  return found == table.end() ? nullptr : &*found;
}

// Upper and lower case alike; the longest extension wins. Null if none fits.
template <class Row>
const Row* row_for_path(std::span<const Row> table, const std::string& path) {
  const std::string name = lower_case(path.substr(path.find_last_of('/') + 1));
  const Row* best = nullptr;
  for (const Row& row : table) {
    if (name.ends_with(row.extension) && (best == nullptr || row.extension.size() > best->extension.size())) {
      best = &row;
    }
  }
  return best;
}

template <class Row>
std::string extensions_of(std::span<const Row> table) {
  std::string list;
  for (const Row& row : table) list += fmt::format("{}{}", list.empty() ? "" : ", ", row.extension);
  return list;
}

}  // namespace kvreplay::reports
