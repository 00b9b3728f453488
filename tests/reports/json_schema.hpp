// Documents judged by a JSON Schema, by Python's jsonschema (ask python_has for it first).
#pragma once

#include <string>
#include <vector>

namespace kvreplay::reports::tests {

// A line per document, in order: "ok" or the first error. The schema's own "$schema" says which draft it is written in.
std::vector<std::string> validated(const std::string& schema_path, const std::vector<std::string>& documents);

}  // namespace kvreplay::reports::tests
