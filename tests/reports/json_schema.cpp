#include "tests/reports/json_schema.hpp"

#include "tests/catch.hpp"
#include "tests/reports/outside.hpp"

namespace kvreplay::reports::tests {

std::vector<std::string> validated(const std::string& schema_path, const std::vector<std::string>& documents) {
  const TemporaryFolder folder;
  std::vector<std::string> arguments{schema_path};
  for (const std::string& document : documents) {
    arguments.push_back(folder.file("document" + std::to_string(arguments.size()) + ".json", document));
  }
  const ProgramResult result = run_python(
      "import json, sys, jsonschema\n"
      "schema = json.load(open(sys.argv[1], encoding='utf-8'))\n"
      "kind = jsonschema.validators.validator_for(schema)\n"
      "kind.check_schema(schema)\n"
      "validator = kind(schema)\n"
      "def constant(name):\n"
      "    raise ValueError(name)\n"
      "for path in sys.argv[2:]:\n"
      "    document = json.load(open(path, encoding='utf-8'), parse_constant=constant)\n"
      "    error = next(validator.iter_errors(document), None)\n"
      "    print('ok' if error is None else ascii(error.message)[:200])\n",
      arguments);
  INFO(result.output);
  REQUIRE(result.exit_code == 0);
  std::vector<std::string> lines;
  for (std::size_t at = 0, end = 0; (end = result.output.find('\n', at)) != std::string::npos; at = end + 1) {
    lines.push_back(result.output.substr(at, end - at));
  }
  REQUIRE(lines.size() == documents.size());
  return lines;
}

}  // namespace kvreplay::reports::tests
