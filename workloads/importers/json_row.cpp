#include "workloads/importers/json_row.hpp"

#include "workloads/yaml/source_text.hpp"

#include <algorithm>
#include <cmath>

namespace kvreplay::workloads::importers {
namespace {

using nlohmann::json;
using Event = json::parse_event_t;

constexpr int max_depth = 16;

// Sees every key before a second value would replace the first; no object of a trace has many keys.
class Checker {
 public:
  // What is wrong, empty if nothing is.
  std::string see(int depth, Event event, const json& parsed) {
    if (depth > max_depth) return "nested deeper than 16";
    if (event == Event::object_start) keys_.emplace_back();
    if (event == Event::object_end) keys_.pop_back();
    if (event != Event::key) return "";
    std::vector<std::string>& keys = keys_.back();
    const auto& key = parsed.get_ref<const std::string&>();
    if (std::find(keys.begin(), keys.end(), key) != keys.end())
      return "the key " + yaml::shown(key) + " is given twice";
    if (keys.size() == max_keys) return "an object of more than 256 keys";
    keys.push_back(key);
    return "";
  }

 private:
  static constexpr std::size_t max_keys = 256;
  std::vector<std::vector<std::string>> keys_;
};

std::string range_text(Count least, Count most) {
  std::string text = "expected a whole number of at least " + std::to_string(least);
  if (most != std::numeric_limits<Count>::max()) text += " and at most " + std::to_string(most);
  return text;
}

std::string found_text(const json& value) {
  if (value.is_object()) return ", found an object";
  if (value.is_array()) return ", found a list";
  // Its digits are gone: a whole number of more than 64 bits is read as the nearest decimal one.
  constexpr double least_large = 9.2e18;
  if (value.is_number_float() && std::abs(value.get<double>()) > least_large) {
    return ", found a number too large, about " + value.dump();
  }
  return ", found " + yaml::shown(value.dump(-1, ' ', true, json::error_handler_t::replace));
}

std::optional<Count> whole_of(const json& value, Count least, Count most) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned()) {
    const auto unsigned_value = value.get<std::uint64_t>();
    if (unsigned_value > static_cast<std::uint64_t>(std::numeric_limits<Count>::max())) return std::nullopt;
  }
  const Count whole = value.get<Count>();
  if (whole < least || whole > most) return std::nullopt;
  return whole;
}

}  // namespace

JsonRow::JsonRow(const TraceLine& line, const std::string& file) : file_(file), line_(line.number) {
  Checker checker;
  const auto see = [&](int depth, Event event, json& parsed) {
    const std::string problem = checker.see(depth, event, parsed);
    if (!problem.empty()) throw fault("", problem);
    return true;
  };
  try {
    owned_ = json::parse(line.text, see);
  } catch (const json::parse_error& error) {
    const bool cut = !line.has_end && error.byte > line.text.size();
    const std::string_view before = line.text.substr(0, std::max<std::size_t>(error.byte, 1) - 1);
    const auto ends = std::count(before.begin(), before.end(), '\n');
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    throw InputError(file_, {line_ + static_cast<int>(ends), static_cast<int>(before.size() - line_start) + 1}, "",
                     cut ? "not valid JSON: the file ends inside this row; cut off?" : "not valid JSON");
  } catch (const json::exception&) {
    throw fault("", "holds a number that is out of range");
  }
  if (!owned_.is_object()) throw fault("", "expected one JSON object a line");
  object_ = &owned_;
}

JsonRow::JsonRow(const json& object, const JsonRow& outer, const std::string& place)
    : object_(&object), file_(outer.file_), place_(outer.place_ + place), line_(outer.line_) {
  if (!object.is_object()) throw fault("", "expected an object" + found_text(object));
  place_ += ".";
}

InputError JsonRow::fault(std::string_view key, const std::string& problem) const {
  std::string place = place_ + std::string(key);
  if (place.ends_with('.')) place.pop_back();
  return {file_, {line_, 0}, place, problem};
}

std::vector<std::string> JsonRow::others(KeyList known) const {
  std::vector<std::string> others;
  for (const auto& [key, value] : object_->items()) {
    if (std::find(known.begin(), known.end(), key) == known.end() && !is_free_key(key)) others.push_back(key);
  }
  return others;
}

InputError JsonRow::unknown(const std::string& key, KeyList known) const {
  return {file_, {line_, 0}, place_ + key, "unknown key", key, std::vector<std::string>(known.begin(), known.end())};
}

const json& JsonRow::value(const char* key) const {
  const auto found = object_->find(key);
  if (found == object_->end()) throw fault("", "the key '" + std::string(key) + "' is missing");
  return *found;
}

Count JsonRow::whole(const char* key, Count least, Count most) const {
  const json& given = value(key);
  if (const auto whole = whole_of(given, least, most)) return *whole;
  throw fault(key, range_text(least, most) + found_text(given));
}

std::optional<double> JsonRow::number(const char* key, double least) const {
  if (!has(key) || value(key).is_null()) return std::nullopt;
  const json& given = value(key);
  if (given.is_number()) {
    const double number = given.get<double>();
    if (std::isfinite(number) && number >= least) return number;
  }
  throw fault(key, "expected a number of at least " + std::to_string(static_cast<Count>(least)) + found_text(given));
}

std::string JsonRow::text(const char* key) const {
  const json& given = value(key);
  if (given.is_string()) return given.get<std::string>();
  if (given.is_number_integer()) return given.dump();
  throw fault(key, "expected text" + found_text(given));
}

const json& JsonRow::list(const char* key) const {
  const json& given = value(key);
  if (!given.is_array()) throw fault(key, "expected a list" + found_text(given));
  return given;
}

const json& JsonRow::object(const char* key) const {
  const json& given = value(key);
  if (!given.is_object()) throw fault(key, "expected an object" + found_text(given));
  return given;
}

std::vector<Count> JsonRow::wholes(const char* key, Count most) const {
  std::vector<Count> wholes;
  const json& given = list(key);
  wholes.reserve(given.size());
  for (const json& item : given) {
    const auto whole = whole_of(item, 0, most);
    if (!whole) {
      throw fault(key + ("[" + std::to_string(wholes.size()) + "]"), range_text(0, most) + found_text(item));
    }
    wholes.push_back(*whole);
  }
  return wholes;
}

}  // namespace kvreplay::workloads::importers
