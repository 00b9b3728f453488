// Result records as JSON values, shared by the JSON writers. Only .cpp files include this: the library is a private
// dependency of reports/.
#pragma once

#include "reports/result.hpp"

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace kvreplay::reports {

using Json = nlohmann::ordered_json;

// null where absent.
Json optional_json(const std::optional<Count>& value);
// null where absent or not finite: JSON has no NaN.
Json number_json(std::optional<double> value);
// A repeated key becomes one key with a list.
Json pairs_json(const std::vector<std::pair<std::string, std::string>>& pairs);

Json percentiles_json(const Percentiles& percentiles);
// `latency` with the rates of the whole result beside it.
Json latency_json(const Latency& latency, std::optional<double> tokens_per_second);

// One line of valid UTF-8 JSON whatever bytes the strings hold.
std::string dumped(const Json& value);

}  // namespace kvreplay::reports
