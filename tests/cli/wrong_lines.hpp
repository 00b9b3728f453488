// Command lines that are wrong, and what the program says of them.
#pragma once

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

#include <string>
#include <vector>

namespace kvreplay::cli::testing {

struct Wrong {
  std::string arguments, says;
};

// Each is refused on stderr, with 2 and nothing on stdout.
inline void check_refused(const std::vector<Wrong>& lines) {
  for (const Wrong& line : lines) {
    INFO("kvreplay " << line.arguments);
    const auto finished = kvreplay(line.arguments);
    CHECK(finished.exit_code == 2);
    CHECK_THAT(finished.err, Catch::Matchers::Contains(line.says));
    CHECK(finished.out.empty());
  }
}

}  // namespace kvreplay::cli::testing
