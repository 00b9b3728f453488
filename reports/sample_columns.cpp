#include "reports/sample_columns.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

Cell number(const std::optional<Count>& value) { return value ? Cell(*value) : Cell(); }
Cell word(const std::string& value) { return value.empty() ? Cell() : Cell(value); }

constexpr std::array columns{
    SampleColumn{"evaluation", true, [](const Sample& s) { return Cell(s.evaluation); }, "ordinal of the call, from 0"},
    SampleColumn{"sequence", false, [](const Sample& s) { return word(s.sequence); }, "name of the sequence"},
    SampleColumn{"line", true, [](const Sample& s) { return Cell(Count{s.line}); },
                 "line of its event in the workload"},
    SampleColumn{"length", true, [](const Sample& s) { return Cell(s.length); },
                 "tokens of the complete list asked for"},
    SampleColumn{"common_prefix", true, [](const Sample& s) { return Cell(s.common_prefix); },
                 "leading tokens equal to what the cache holds"},
    SampleColumn{"held_before", true, [](const Sample& s) { return Cell(s.held_before); },
                 "tokens the engine believed to hold"},
    SampleColumn{"kept", true, [](const Sample& s) { return Cell(s.kept); },
                 "tokens the keep rule asks to be served from the cache"},
    SampleColumn{"fed", true, [](const Sample& s) { return Cell(s.fed); }, "tokens run through the model"},
    SampleColumn{"first_position", true, [](const Sample& s) { return number(s.first_position); },
                 "position of the first of them; blank where nothing was fed"},
    SampleColumn{"capacity_before", true, [](const Sample& s) { return number(s.capacity_before); },
                 "rows of a global layer's storage; blank without storage"},
    SampleColumn{"capacity_after", true, [](const Sample& s) { return number(s.capacity_after); },
                 "the same afterwards"},
    SampleColumn{"held_after", true, [](const Sample& s) { return Cell(s.held_after); },
                 "tokens the engine believes to hold afterwards"},
    SampleColumn{"bytes_before", true, [](const Sample& s) { return Cell(s.bytes_before); },
                 "bytes of storage, all layers, K and V"},
    SampleColumn{"bytes_after", true, [](const Sample& s) { return Cell(s.bytes_after); }, "the same afterwards"},
    SampleColumn{"new_storage", false, [](const Sample& s) { return word(s.new_storage); },
                 "first: first storage; yes: storage was replaced; else blank"},
    SampleColumn{"resets", true, [](const Sample& s) { return Cell(s.resets); }, "resets of this call"},
    SampleColumn{"crop_to", true, [](const Sample& s) { return number(s.crop_to); },
                 "length the cache was asked to be cropped to; else blank"},
    SampleColumn{"action", false, [](const Sample& s) { return word(s.action); },
                 "first append cached crop reset discard grow refused exceeded"},
    SampleColumn{"cause", false, [](const Sample& s) { return word(s.cause); },
                 "why tokens were recomputed: overflow window_passed sequence_switch rewind policy; else blank"},
    SampleColumn{"exact", false, [](const Sample& s) { return s.exact ? Cell(*s.exact) : Cell(); },
                 "are the rows attention reads those of a cold run; blank where nothing was evaluated"},
    SampleColumn{"tokens_recomputed", true, [](const Sample& s) { return Cell(s.tokens_recomputed); },
                 "of the tokens fed, those this sequence had evaluated before"},
    SampleColumn{"bytes_copied", true, [](const Sample& s) { return Cell(s.bytes_copied); }, "bytes this call copied"},
    SampleColumn{"bytes_zeroed", true, [](const Sample& s) { return Cell(s.bytes_zeroed); }, "bytes this call zeroed"},
    SampleColumn{"transient_bytes", true, [](const Sample& s) { return Cell(s.transient_bytes); },
                 "most bytes held at once during this call"},
};

}  // namespace

std::span<const SampleColumn> sample_columns() { return columns; }

const SampleColumn* find_sample_column(std::string_view name) {
  const auto found =
      std::find_if(columns.begin(), columns.end(), [&](const SampleColumn& c) { return c.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

std::string text_of(const Cell& cell) {
  if (const Count* count = std::get_if<Count>(&cell)) return fmt::format("{}", *count);
  if (const std::string* text = std::get_if<std::string>(&cell)) return *text;
  if (const bool* flag = std::get_if<bool>(&cell)) return *flag ? "yes" : "no";
  return {};
}

}  // namespace kvreplay::reports
