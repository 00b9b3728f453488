#include "reports/json_values.hpp"

#include "reports/statistics.hpp"

#include <cmath>

namespace kvreplay::reports {

Json optional_json(const std::optional<Count>& value) { return value ? Json(*value) : Json(); }

Json number_json(std::optional<double> value) { return value && std::isfinite(*value) ? Json(*value) : Json(); }

Json pairs_json(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Json object = Json::object();
  for (const auto& [key, value] : pairs) {
    if (!object.contains(key)) {
      object[key] = value;
      continue;
    }
    Json& earlier = object[key];
    if (!earlier.is_array()) earlier = Json::array({earlier});
    earlier.push_back(value);
  }
  return object;
}

Json percentiles_json(const Percentiles& percentiles) {
  return {{"n", percentiles.n},
          {"sum", percentiles.sum},
          {"min", optional_json(percentiles.min)},
          {"p50", optional_json(percentiles.p50)},
          {"p90", optional_json(percentiles.p90)},
          {"p99", optional_json(percentiles.p99)},
          {"max", optional_json(percentiles.max)}};
}

Json latency_json(const Latency& latency, std::optional<double> tokens_per_second) {
  Json parts = Json::object();
  for (const auto& [name, ns] : latency.parts_ns) parts[name] = ns;
  return {{"total_ns", latency.total_ns},
          {"time_to_first_token_ns", optional_json(latency.time_to_first_token_ns)},
          {"evaluation_ns", percentiles_json(latency.evaluation_ns)},
          {"inter_token_ns", percentiles_json(latency.inter_token_ns)},
          {"parts_ns", parts},
          {"tokens_per_second", number_json(tokens_per_second)},
          {"decode_tokens_per_second", number_json(decode_tokens_per_second(latency))}};
}

std::string dumped(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace kvreplay::reports
