#include "sim/strict_json.hpp"

#include "workloads/input_error.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace kvreplay::sim {
namespace {

using Event = nlohmann::json::parse_event_t;

constexpr int max_depth = 64;

workloads::SourceMark place_of(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return {static_cast<int>(line) + 1, static_cast<int>(before.size() - line_start) + 1};
}

// Sees every key before the value replaces an earlier one of the same name.
class Checker {
 public:
  explicit Checker(const std::string& file) : file_(file) {}

  bool operator()(int depth, Event event, const nlohmann::json& parsed) {
    if (depth > max_depth) throw workloads::InputError(file_, {}, {}, "is nested too deeply");
    if (event == Event::object_start) seen_.emplace_back();
    if (event == Event::object_end) seen_.pop_back();
    if (event == Event::key && !seen_.back().insert(parsed.get<std::string>()).second) {
      throw workloads::InputError(file_, {}, parsed.get<std::string>(), "the key is given twice");
    }
    return true;
  }

 private:
  const std::string& file_;
  std::vector<std::set<std::string>> seen_;
};

}  // namespace

nlohmann::json parse_json_object(std::string_view text, const std::string& file) {
  Checker checker(file);
  const auto callback = [&](int depth, Event event, nlohmann::json& parsed) { return checker(depth, event, parsed); };
  try {
    nlohmann::json document = nlohmann::json::parse(text, callback);
    if (!document.is_object()) throw workloads::InputError(file, {}, {}, "must be a JSON object");
    return document;
  } catch (const nlohmann::json::parse_error& error) {
    throw workloads::InputError(file, place_of(text, error.byte), {}, "is not valid JSON");
  } catch (const nlohmann::json::exception&) {
    throw workloads::InputError(file, {}, {}, "holds a number that is out of range");
  }
}

}  // namespace kvreplay::sim
