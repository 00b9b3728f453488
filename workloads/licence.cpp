#include "workloads/licence.hpp"

#include <algorithm>
#include <cstddef>

namespace kvreplay::workloads {
namespace {

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == ':';
}

bool is_operator(std::string_view word) { return word == "AND" || word == "OR" || word == "WITH"; }

// A name, which may end in + ("or later").
bool is_licence_name(std::string_view word) {
  if (word.ends_with('+')) word.remove_suffix(1);
  return !word.empty() && !is_operator(word) && std::all_of(word.begin(), word.end(), is_name_character);
}

// Takes the next word or parenthesis off the text; empty at its end.
std::string_view next_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::size_t end = std::min(text.find_first_of(" ()"), text.size());
  if (end == 0 && !text.empty()) end = 1;
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

}  // namespace

bool is_licence(std::string_view text) {
  std::size_t depth = 0;
  std::string_view before = "AND";  // as if one were to come: a name or a group must follow
  bool had_exception = false;       // the name before is one already
  for (std::string_view word = next_word(text); !word.empty(); word = next_word(text)) {
    const bool wants_operand = is_operator(before) || before == "(";
    if (word == "(") {
      if (!wants_operand || before == "WITH") return false;
      ++depth;
    } else if (word == ")") {
      if (wants_operand || depth == 0) return false;
      --depth;
    } else if (word == "WITH") {
      if (wants_operand || before == ")" || had_exception) return false;
    } else if (is_operator(word)) {
      if (wants_operand) return false;
    } else {
      if (!wants_operand || !is_licence_name(word)) return false;
      had_exception = before == "WITH";
    }
    before = word;
  }
  return depth == 0 && !is_operator(before) && before != "(";
}

}  // namespace kvreplay::workloads
