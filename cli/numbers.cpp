#include "cli/numbers.hpp"

#include "policies/option_error.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace kvreplay::cli {
namespace {

constexpr std::array<std::pair<const char*, int>, 5> byte_units{
    {{"B", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}}};

// Digits without leading zeros, in [least, most].
std::optional<std::int64_t> whole_number(const std::string& text, std::int64_t least, std::int64_t most) {
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool leading_zero = text.size() > 1 && text.front() == '0';
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size() || leading_zero || value < least ||
      value > most) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

std::int64_t parse_count(const std::string& option, const std::string& text, std::int64_t least, std::int64_t most) {
  const auto value = whole_number(text, least, most);
  if (!value) {
    throw policies::OptionError(
        most == std::numeric_limits<std::int64_t>::max()
            ? fmt::format("{} takes a whole number of at least {}, not '{}'", option, least, text)
            : fmt::format("{} takes a whole number from {} to {}, not '{}'", option, least, most, text));
  }
  return *value;
}

std::int64_t parse_bytes(const std::string& option, const std::string& text) {
  const auto digits = text.find_first_not_of("0123456789");
  const std::string number = text.substr(0, digits);
  const std::string unit = digits == std::string::npos ? "B" : text.substr(digits);
  for (const auto& [name, shift] : byte_units) {
    if (unit != name || number.empty()) continue;
    const std::int64_t most = std::numeric_limits<std::int64_t>::max() >> shift;
    if (const auto value = whole_number(number, 1, most)) return *value << shift;
    throw policies::OptionError(fmt::format("{} takes 1{} to {}{}, not '{}'", option, name, most, name, text));
  }
  throw policies::OptionError(fmt::format("{} takes bytes such as 1500000, 512MiB or 2GiB, not '{}'", option, text));
}

double parse_positive(const std::string& option, const std::string& text) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size() || !std::isfinite(value) || value <= 0) {
    throw policies::OptionError(fmt::format("{} takes a positive number, not '{}'", option, text));
  }
  return value;
}

}  // namespace kvreplay::cli
