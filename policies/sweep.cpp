#include "policies/sweep.hpp"

#include "policies/option_error.hpp"
#include "policies/options.hpp"

#include <charconv>
#include <optional>

namespace kvreplay::policies {
namespace {

// A key with the values it is to take.
struct Axis {
  std::string key;  // with its equals sign; empty for a piece that is not key=value, which parse_policy refuses
  std::vector<std::string> values;
};

[[noreturn]] void throw_too_many(std::string_view text) {
  throw OptionError("'" + std::string(text) + "' stands for more than " + std::to_string(largest_sweep) +
                    " policies; narrow its lists and ranges");
}

// Takes leading digits off `text`; none where it does not begin with some, or with too many.
std::optional<Count> take_number(std::string_view& text) {
  Count number = 0;
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number > largest_option) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// The numbers of `from-to*factor` or `from-to+step`; the value itself where it has another form.
std::vector<std::string> values_of(std::string_view value, std::string_view text) {
  std::string_view rest = value;
  const auto from = take_number(rest);
  if (!from || !rest.starts_with('-')) return {std::string(value)};
  rest.remove_prefix(1);
  const auto to = take_number(rest);
  if (!to) return {std::string(value)};
  const char operation = rest.empty() ? '\0' : rest.front();
  if (operation == '*' || operation == '+') rest.remove_prefix(1);
  const auto step = take_number(rest);
  if (!step || !rest.empty() || (operation != '*' && operation != '+')) {
    throw OptionError("'" + std::string(text) + "': a range is from-to*factor or from-to+step (512-4096*2), not '" +
                      std::string(value) + "'");
  }
  if (*from > *to || *from < 1 || *step < (operation == '*' ? 2 : 1)) {
    throw OptionError("'" + std::string(text) + "': the range '" + std::string(value) +
                      "' does not grow from its first number, 1 or more, to its last");
  }
  std::vector<std::string> values;
  for (Count number = *from; number <= *to; number = operation == '*' ? number * *step : number + *step) {
    if (values.size() == largest_sweep) throw_too_many(text);
    values.push_back(std::to_string(number));
  }
  return values;
}

std::vector<Axis> axes_of(std::string_view options, std::string_view text) {
  std::vector<Axis> axes;
  while (true) {
    const std::string_view item = options.substr(0, options.find(','));
    const std::size_t equals = item.find('=');
    const bool starts_key = equals != std::string_view::npos || axes.empty() || item.empty();
    if (starts_key)
      axes.push_back({equals == std::string_view::npos ? "" : std::string(item.substr(0, equals + 1)), {}});
    const std::string_view value = equals == std::string_view::npos ? item : item.substr(equals + 1);
    for (std::string& one : values_of(value, text)) axes.back().values.push_back(std::move(one));
    if (axes.back().values.size() > largest_sweep) throw_too_many(text);
    if (item.size() == options.size()) return axes;
    options.remove_prefix(item.size() + 1);
  }
}

}  // namespace

std::vector<std::string> sweep(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {std::string(text)};
  std::vector<std::string> specs{std::string(text.substr(0, colon))};
  char separator = ':';
  for (const Axis& axis : axes_of(text.substr(colon + 1), text)) {
    if (specs.size() * axis.values.size() > largest_sweep) throw_too_many(text);
    std::vector<std::string> longer;
    for (const std::string& spec : specs) {
      for (const std::string& value : axis.values) {
        std::string next = spec;
        next += separator;
        next += axis.key;
        next += value;
        longer.push_back(std::move(next));
      }
    }
    specs = std::move(longer);
    separator = ',';
  }
  return specs;
}

}  // namespace kvreplay::policies
