// JSON from files, with the strictness of the YAML reader: no duplicate keys, bounded depth, faults with their place.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace kvreplay::sim {

// Parses `text`, which must be one JSON object. Throws InputError naming `file`, and line and column of syntax faults.
nlohmann::json parse_json_object(std::string_view text, const std::string& file);

}  // namespace kvreplay::sim
