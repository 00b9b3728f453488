// JSON texts of others, parsed strictly, with our own words about what is wrong with them. Only .cpp files include
// this.
#pragma once

#include "reports/json_values.hpp"

#include <string>
#include <string_view>

namespace kvreplay::reports {

// What messages say about a file: its name, and what to do about a fault in it.
struct JsonSource {
  std::string name;
  std::string cure;
};

// The document. A byte order mark of UTF-8 is passed over. Throws NotJson "FILE:LINE:COLUMN: not JSON: ..." (columns
// are bytes, both count from 1), and ResultError for an empty text, a key twice in one object, and more than 64 levels.
Json parsed_json(std::string_view text, const JsonSource& source);

// Throws as parsed_json does where the text is no JSON, and keeps no values, so that texts of any size can be looked
// at.
void need_json(std::string_view text, const JsonSource& source);

// The value as a message shows it: "-5", "\"text\"", cut where it is long, "a list", "an object".
std::string shown_json(const Json& value);

}  // namespace kvreplay::reports
