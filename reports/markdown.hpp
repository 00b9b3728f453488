// Results as Markdown for a pull request or a CI summary.
#pragma once

#include "reports/result.hpp"

#include <string>
#include <string_view>

namespace kvreplay::reports {

// What a CI step summary may hold.
inline constexpr std::size_t max_markdown_bytes = 1 << 20;

// The verdict on the first line, per workload the key numbers of its policies (best in bold), everything else folded.
// Always under max_markdown_bytes: first the folded parts, then whole workloads are left out, and the text says so.
std::string write_markdown(const ResultFile& file);

// A name as inline code that stays a name whatever it holds: one line, no markup, no mention, no cell end.
std::string markdown_name(std::string_view name);
// Text without markup, shortened to `width` columns: everything that could begin some is a character reference.
std::string markdown_text(std::string_view text, std::size_t width);

}  // namespace kvreplay::reports
