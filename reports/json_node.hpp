// A JSON value and where it lies, read strictly. Only .cpp files include this.
#pragma once

#include "reports/json_text.hpp"
#include "reports/json_values.hpp"
#include "reports/result_json.hpp"
#include "reports/text.hpp"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace kvreplay::reports {

// Every reader throws ResultError naming the file and the JSON pointer of the value that is not as it must be, what it
// is, and the cure.
class JsonNode {
 public:
  // Refers to the document and the source, which must live longer.
  JsonNode(const Json& value, const JsonSource& source, std::string pointer = "")
      : value_(value), source_(source), pointer_(std::move(pointer)) {}

  JsonNode member(const std::string& name) const {
    need(value_.is_object(), "an object");
    const auto found = value_.find(name);
    if (found == value_.end()) fail(pointer_ + "/" + name, "missing");
    return {*found, source_, pointer_ + "/" + name};
  }

  // A member that files of older versions do not have.
  std::optional<JsonNode> later_member(const std::string& name) const {
    need(value_.is_object(), "an object");
    if (!value_.contains(name)) return std::nullopt;
    return member(name);
  }

  bool is_null() const { return value_.is_null(); }

  Count integer(Count smallest = std::numeric_limits<Count>::min()) const {
    need(value_.is_number_integer(), "an integer");
    const bool fits = !value_.is_number_unsigned() ||
                      value_.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<Count>::max());
    need(fits, "an integer of 64 bits");
    const Count value = value_.get<Count>();
    if (value < smallest) refuse(fmt::format("at least {}", smallest));
    return value;
  }
  std::optional<Count> optional_integer(Count smallest = std::numeric_limits<Count>::min()) const {
    if (is_null()) return std::nullopt;
    return integer(smallest);
  }
  int line_number() const {
    const Count line = integer(0);
    need(line <= std::numeric_limits<int>::max(), "the number of a line");
    return static_cast<int>(line);
  }
  double number() const {
    need(value_.is_number(), "a number");
    return value_.get<double>();
  }
  double number_from(double smallest, double largest = std::numeric_limits<double>::max()) const {
    const double value = number();
    if (value < smallest) refuse(fmt::format("at least {}", smallest));
    if (value > largest) refuse(fmt::format("at most {}", largest));
    return value;
  }
  // null, an integer or another number, each kept as what it is.
  Number count_or_number() const {
    if (is_null()) return {};
    if (value_.is_number_integer()) return integer();
    return number();
  }
  bool boolean() const {
    need(value_.is_boolean(), "true or false");
    return value_.get<bool>();
  }
  std::string text() const {
    need(value_.is_string(), "a string");
    return value_.get<std::string>();
  }
  std::string one_of(std::initializer_list<std::string_view> words) const {
    const std::string word = text();
    if (std::find(words.begin(), words.end(), word) == words.end()) {
      refuse(fmt::format("one of {}", fmt::join(words, ", ")));
    }
    return word;
  }
  std::string optional_one_of(std::initializer_list<std::string_view> words) const {
    return is_null() ? std::string() : one_of(words);
  }
  std::string optional_text() const { return is_null() ? std::string() : text(); }

  template <typename Visit>
  void for_each_element(Visit visit) const {
    need(value_.is_array(), "a list");
    for (std::size_t i = 0; i < value_.size(); ++i)
      visit(JsonNode(value_[i], source_, fmt::format("{}/{}", pointer_, i)));
  }
  template <typename Visit>
  void for_each_member(Visit visit) const {
    need(value_.is_object(), "an object");
    for (const auto& [name, value] : value_.items()) visit(name, JsonNode(value, source_, pointer_ + "/" + name));
  }

  std::vector<Count> integers(Count smallest = std::numeric_limits<Count>::min()) const {
    std::vector<Count> values;
    for_each_element([&](const JsonNode& element) { values.push_back(element.integer(smallest)); });
    return values;
  }
  // The reverse of pairs_json.
  std::vector<std::pair<std::string, std::string>> pairs() const {
    std::vector<std::pair<std::string, std::string>> values;
    for_each_member([&](const std::string& name, const JsonNode& member) {
      if (!member.value_.is_array()) {
        values.emplace_back(name, member.text());
        return;
      }
      member.for_each_element([&](const JsonNode& element) { values.emplace_back(name, element.text()); });
    });
    return values;
  }

  // What this value must be and is not.
  [[noreturn]] void refuse(std::string_view expected) const {
    fail(pointer_.empty() ? "/" : pointer_, fmt::format("must be {}, not {}", expected, shown_json(value_)));
  }

 private:
  void need(bool holds, std::string_view expected) const {
    if (!holds) refuse(expected);
  }
  [[noreturn]] void fail(const std::string& pointer, const std::string& fault) const {
    constexpr std::size_t most_columns = 160;
    throw ResultError(
        fmt::format("{}: {}: {}; {}", source_.name, shortened(printable(pointer), most_columns), fault, source_.cure));
  }

  const Json& value_;
  const JsonSource& source_;
  std::string pointer_;
};

}  // namespace kvreplay::reports
