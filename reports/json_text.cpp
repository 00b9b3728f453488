#include "reports/json_text.hpp"

#include "reports/result_json.hpp"
#include "reports/text.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

constexpr int most_levels = 64;
constexpr std::size_t most_shown = 40;

// An object or list that is not closed yet.
struct Open {
  bool is_list = false;
  std::size_t ordinal = 0;  // of the element of a list
  std::string key;          // of the member of an object
  std::set<std::string> keys;
};

// Looks on while a text is parsed: finds keys given twice and nesting nobody means.
class Watcher {
 public:
  explicit Watcher(const JsonSource& source) : source_(source) {}

  void operator()(int depth, Json::parse_event_t event, const Json& value) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      if (depth >= most_levels) fail(fmt::format("nested deeper than {} levels", most_levels));
      open_.push_back({event == Event::array_start, 0, {}, {}});
      return;
    }
    if (event == Event::key) {
      open_.back().key = value.get<std::string>();
      if (!open_.back().keys.insert(open_.back().key).second) fail(fmt::format("{}: is there twice", pointer()));
      return;
    }
    if (event != Event::value) open_.pop_back();
    if (!open_.empty()) ++open_.back().ordinal;
  }

 private:
  std::string pointer() const {
    std::string text;
    for (const Open& open : open_) text += "/" + (open.is_list ? fmt::format("{}", open.ordinal) : open.key);
    return shortened(printable(text), 4 * most_shown);
  }
  [[noreturn]] void fail(const std::string& fault) const {
    throw ResultError(fmt::format("{}: {}; {}", source_.name, fault, source_.cure));
  }

  const JsonSource& source_;
  std::vector<Open> open_;
};

[[noreturn]] void fail_at(std::string_view text, std::size_t at, const JsonSource& source, const std::string& fault) {
  const std::string_view before = text.substr(0, std::min(at, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t begin = before.rfind('\n') + 1;  // npos + 1 is 0
  throw NotJson(
      fmt::format("{}:{}:{}: not JSON: {}; {}", source.name, line, before.size() - begin + 1, fault, source.cure));
}

bool belongs_to_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '+' ||
         c == '-' || c == '.';
}

// The word, string or sign whose last byte the parser had read, and where it begins.
std::pair<std::size_t, std::string> found_at(std::string_view text, std::size_t at) {
  std::size_t begin = at, end = at + 1;
  if (text[at] == '"') {
    const std::size_t quote = at == 0 ? std::string_view::npos : text.rfind('"', at - 1);
    if (quote != std::string_view::npos && at - quote < most_shown) begin = quote;
  } else if (belongs_to_word(text[at])) {
    while (begin > 0 && belongs_to_word(text[begin - 1])) --begin;
    while (end < text.size() && belongs_to_word(text[end])) ++end;
  }
  return {begin, shortened(printable(text.substr(begin, end - begin)), most_shown)};
}

// What the parser waited for, by its own words.
std::string_view wanted_by(std::string_view words) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> wanted{{
      {"expected end of input", "the document is over"},
      {"while parsing object key", "a key in double quotes or } must stand here"},
      {"while parsing object separator", "a colon must stand here"},
      {"while parsing object -", "a comma or } must stand here"},
      {"while parsing array -", "a comma or ] must stand here"},
  }};
  for (const auto& [context, meaning] : wanted) {
    if (words.find(context) != std::string_view::npos) return meaning;
  }
  return "a value must stand here";
}

[[noreturn]] void explain(std::string_view text, const JsonSource& source, const Json::parse_error& error) {
  const std::string_view words = error.what();
  const auto says = [words](std::string_view part) { return words.find(part) != std::string_view::npos; };
  const std::size_t at = error.byte == 0 ? 0 : error.byte - 1;
  if (at >= text.size()) fail_at(text, text.size(), source, "the text ends in the middle, the file is cut off");
  if (says("UTF-8 byte")) {
    fail_at(text, at, source, fmt::format("byte 0x{:02X} is no UTF-8 text", static_cast<unsigned char>(text[at])));
  }
  if (says("control character")) fail_at(text, at, source, "a line break or control character inside a string");
  if (says("invalid string")) fail_at(text, at, source, "an escape in a string that JSON does not know");
  const auto [begin, found] = found_at(text, at);
  std::string fault = fmt::format("{}, and there is {}", wanted_by(words), found);
  for (const std::string_view word : {"nan", "inf"}) {
    std::string lower = found;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
    if (lower.find(word) < 2) fault += ", which is no number in JSON";
  }
  fail_at(text, begin, source, fault);
}

// What a parser of bytes would take for something else.
void check_bytes(std::string_view text, const JsonSource& source) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    fail_at(text, 0, source, "this is UTF-16 text; save it as UTF-8");
  }
  const std::size_t nul = text.find('\0');
  if (nul != std::string_view::npos) fail_at(text, nul, source, "a NUL byte, the file is damaged");
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw ResultError(fmt::format("{}: empty; {}", source.name, source.cure));
  }
}

Json parsed(std::string_view text, const JsonSource& source, const Json::parser_callback_t& watch) {
  check_bytes(text, source);
  try {
    return Json::parse(text, watch);
  } catch (const Json::parse_error& error) {
    explain(text, source, error);
  } catch (const Json::out_of_range& error) {
    // "number overflow parsing '1e999'": the parser does not say where.
    const std::string_view words = error.what();
    const std::size_t quote = words.find('\'');
    const std::string_view number = words.substr(quote + 1, words.rfind('\'') - quote - 1);
    fail_at(text, text.find(number), source,
            fmt::format("{} is larger than any number", shortened(printable(number), most_shown)));
  }
}

}  // namespace

Json parsed_json(std::string_view text, const JsonSource& source) {
  Watcher watcher(source);
  return parsed(text, source, [&watcher](int depth, Json::parse_event_t event, const Json& value) {
    watcher(depth, event, value);
    return true;
  });
}

void need_json(std::string_view text, const JsonSource& source) {
  (void)parsed(text, source, [](int, Json::parse_event_t, const Json&) { return false; });
}

std::string shown_json(const Json& value) {
  if (value.is_array()) return "a list";
  if (value.is_object()) return "an object";
  return shortened(printable(dumped(value)), most_shown);
}

}  // namespace kvreplay::reports
