#include "workloads/fields.hpp"

#include "workloads/yaml/source_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace kvreplay::workloads {
namespace {

using yaml::NodeRef;
using yaml::shown;

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Why a text that looks like a number to some readers is none here.
std::string hint_for_number(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  if (all_digits(text)) return text.size() > 1 && text[0] == '0' ? " (write it without leading zeros)" : "";
  if (text.starts_with("0x") || text.starts_with("0o") || text.starts_with("0X") || text.starts_with("0b")) {
    return " (numbers are decimal)";
  }
  return "";
}

std::string hint_for_count(std::string_view text) {
  text = trimmed(text);
  std::string hint = hint_for_number(text);
  if (!hint.empty() || !all_digits(text) || whole_number(text)) return hint;
  return " (too large: numbers have 63 bits)";
}

std::string range_of(Count min, Count max) {
  if (max == any_count) return "of at least " + std::to_string(min);
  return "from " + std::to_string(min) + " to " + std::to_string(max);
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

std::string read_any_text(NodeRef node, bool one_line) {
  if (!node.is_scalar()) throw node.fault("expected text, found " + node.description());
  const std::string_view text = node.text();
  if (trimmed(text).empty()) throw node.fault("expected text, found an empty one");
  const bool bad = std::any_of(text.begin(), text.end(),
                               [&](char c) { return is_control(c) && (one_line || (c != '\n' && c != '\t')); });
  if (bad) {
    throw node.fault(std::string("expected text without control characters") + (one_line ? " and line breaks" : "") +
                     ", found " + shown(text));
  }
  return std::string(text);
}

}  // namespace

bool is_free_key(std::string_view key) { return key.starts_with("x-"); }

MapFields::MapFields(NodeRef node, KeyList known) : node_(node) {
  const auto names = [&] { return std::vector<std::string>(known.begin(), known.end()); };
  if (!node.is_map()) {
    throw node.fault("expected a map with the keys " + listed(names()) + "; found " + node.description());
  }
  if (!node.has_children()) return;
  for (NodeRef key = node.first_child();; key = key.next().next()) {
    const bool valid = is_free_key(key.text()) || std::find(known.begin(), known.end(), key.text()) != known.end();
    if (!valid) {
      throw key.fault("unknown key " + shown(key.text()) + "; valid here: " + listed(names()), std::string(key.text()),
                      names());
    }
    if (!key.next().has_next()) return;
  }
}

std::optional<NodeRef> MapFields::optional(std::string_view key) const {
  if (!node_.has_children()) return std::nullopt;
  for (NodeRef at = node_.first_child();; at = at.next().next()) {
    if (at.text() == key) return at.next();
    if (!at.next().has_next()) return std::nullopt;
  }
}

NodeRef MapFields::required(std::string_view key, std::string_view what) const {
  if (const auto value = optional(key)) return *value;
  throw node_.fault("missing key '" + std::string(key) + "': expected " + std::string(what));
}

std::vector<Entry> entries_of(NodeRef map, std::string_view what) {
  if (!map.is_map()) throw map.fault("expected a map of " + std::string(what) + ", found " + map.description());
  std::vector<Entry> entries;
  if (!map.has_children()) return entries;
  for (NodeRef key = map.first_child();; key = key.next().next()) {
    if (!is_free_key(key.text())) entries.push_back({key, key.next()});
    if (!key.next().has_next()) return entries;
  }
}

std::vector<NodeRef> items_of(NodeRef list, std::string_view what) {
  if (!list.is_list()) throw list.fault("expected a list of " + std::string(what) + ", found " + list.description());
  std::vector<NodeRef> items;
  if (!list.has_children()) return items;
  for (NodeRef item = list.first_child();; item = item.next()) {
    items.push_back(item);
    if (!item.has_next()) return items;
  }
}

std::optional<Count> whole_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (!all_digits(text) || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  Count value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return negative ? -value : value;
}

Count read_count(NodeRef node, Count min, Count max) {
  if (node.is_scalar()) {
    const auto value = whole_number(trimmed(node.text()));
    if (value && *value >= min && *value <= max) return *value;
  }
  throw node.fault("expected a whole number " + range_of(min, max) + ", found " + node.description() +
                   (node.is_scalar() ? hint_for_count(node.text()) : ""));
}

std::uint64_t read_seed(NodeRef node) {
  if (node.is_scalar()) {
    const std::string_view text = trimmed(node.text());
    if (const auto value = whole_number(text)) return static_cast<std::uint64_t>(*value);
    std::uint64_t large = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), large);
    if (error == std::errc{} && end == text.data() + text.size() && text[0] != '0') return large;
  }
  throw node.fault("expected a seed, a whole number of 64 bits, found " + node.description() +
                   (node.is_scalar() ? hint_for_number(node.text()) : ""));
}

double read_number(NodeRef node, double min) {
  double value = 0;
  bool valid = node.is_scalar(), fits = true;
  if (valid) {
    std::string_view text = trimmed(node.text());
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
    // from_chars would take inf and nan.
    const bool begins = digit(0) || ((text.starts_with('-') || text.starts_with('.')) && (digit(1) || digit(2)));
    const bool octal = digit(0) && text[0] == '0' && digit(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    fits = !begins || octal || error != std::errc::result_out_of_range;
    valid = begins && !octal && error == std::errc{} && end == text.data() + text.size() && value >= min;
  }
  if (valid) return value;
  std::string bound = std::to_string(static_cast<Count>(min));
  const std::string_view beyond = " (too large or too close to 0: numbers go from 2.3e-308 to 1.7e308)";
  throw node.fault("expected a decimal number of at least " + bound + ", found " + node.description() +
                   std::string(fits ? "" : beyond) + (node.is_scalar() ? hint_for_number(node.text()) : ""));
}

bool read_bool(NodeRef node) {
  if (node.is_scalar() && node.text() == "true") return true;
  if (node.is_scalar() && node.text() == "false") return false;
  throw node.fault("expected true or false, found " + node.description());
}

std::string read_text(NodeRef node) { return read_any_text(node, true); }

std::string read_long_text(NodeRef node) { return read_any_text(node, false); }

bool is_name(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

std::string_view read_name(NodeRef node) {
  if (node.is_scalar() && is_name(node.text())) return node.text();
  throw node.fault("expected a name of letters, digits and _ that begins with no digit, found " + node.description());
}

InputError not_among(NodeRef node, std::string_view what, std::vector<std::string> valid) {
  const std::string text = node.is_scalar() ? std::string(node.text()) : std::string();
  const std::string problem =
      "expected " + std::string(what) + ", one of " + listed(valid) + "; found " + node.description();
  return node.fault(problem, text, std::move(valid));
}

}  // namespace kvreplay::workloads
