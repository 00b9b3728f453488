#include "reports/bencher.hpp"

#include "reports/json_values.hpp"
#include "reports/key_numbers.hpp"

#include <algorithm>

namespace kvreplay::reports {
namespace {

std::string slug_of(const std::string& metric) {
  if (metric == "latency.total_ns") return "latency";
  std::string slug = metric;
  std::replace(slug.begin(), slug.end(), '_', '-');
  return slug;
}

}  // namespace

std::string write_bencher(const ResultFile& file) {
  const std::vector<std::string> names = dashboard_names(file);
  Json benchmarks = Json::object();
  for (std::size_t i = 0; i < file.results.size(); ++i) {
    Json measures = Json::object();
    for (const KeyNumber& number : key_numbers(file.results[i])) {
      Json measure = {{"value", number.value}};
      if (number.lowest) {
        measure["lower_value"] = *number.lowest;
        measure["upper_value"] = *number.highest;
      }
      measures[slug_of(number.metric)] = std::move(measure);
    }
    if (!measures.empty()) benchmarks[names[i]] = std::move(measures);
  }
  return benchmarks.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace kvreplay::reports
