#include "cli/errors.hpp"

#include "cli/child_program.hpp"
#include "cli/exit_codes.hpp"
#include "cli/terminal.hpp"
#include "policies/option_error.hpp"
#include "reports/atomic_file.hpp"
#include "reports/compare/thresholds.hpp"
#include "reports/engine_log.hpp"
#include "reports/formats.hpp"
#include "reports/merge.hpp"
#include "reports/result_json.hpp"
#include "reports/whole_file.hpp"
#include "sim/experiment.hpp"
#include "workloads/input_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <system_error>

namespace kvreplay::cli {
namespace {

// Letters to insert, delete, replace or swap with their neighbour (optimal string alignment).
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

int fail(int code, const std::string& message) {
  say("kvreplay: " + message);
  return code;
}

std::string with_suggestion(std::string message, const std::string& given, const std::vector<std::string>& candidates) {
  const std::string near = nearest(given, candidates);
  if (!near.empty()) return message + fmt::format(" (did you mean '{}'?)", near);
  const bool already_listed = !candidates.empty() && message.find(candidates.front()) != std::string::npos;
  if (candidates.empty() || candidates.size() > 30 || already_listed) return message;
  return message + fmt::format(" (valid: {})", fmt::join(candidates, ", "));
}

}  // namespace

std::string nearest(const std::string& given, const std::vector<std::string>& candidates) {
  constexpr std::size_t longest_compared = 80;
  if (given.empty() || given.size() > longest_compared) return {};
  std::string best;
  // A third of the letters may differ: further away a guess misleads more than it helps.
  std::size_t best_distance = std::max<std::size_t>(1, given.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(given, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  if (!best.empty()) return best;
  const auto extended = std::find_if(candidates.begin(), candidates.end(), [&given](const std::string& c) {
    return given.size() >= 3 && c.starts_with(given);
  });
  return extended == candidates.end() ? std::string{} : *extended;
}

int guarded(const std::function<int()>& command) {
  try {
    return command();
  } catch (const workloads::InputError& error) {
    return fail(exit_input, with_suggestion(error.what(), error.given, error.candidates));
  } catch (const policies::OptionError& error) {
    return fail(exit_input, with_suggestion(error.what(), error.given, error.candidates));
  } catch (const reports::ThresholdError& error) {
    return fail(exit_input, with_suggestion(error.what(), error.given, error.candidates));
  } catch (const reports::NotComparable& error) {
    return fail(exit_not_comparable, error.what());
  } catch (const sim::RunTooLong& error) {
    return fail(exit_input, error.what());
  } catch (const reports::UnknownFormat& error) {
    return fail(exit_input, error.what());
  } catch (const reports::FileReadError& error) {
    return fail(exit_input, error.what());
  } catch (const reports::EngineLogError& error) {
    return fail(exit_input, error.what());
  } catch (const reports::ResultError& error) {
    return fail(exit_input, error.what());
  } catch (const reports::MergeError& error) {
    return fail(exit_input, error.what());
  } catch (const reports::MixedResults& error) {
    return fail(exit_not_comparable, error.what());
  } catch (const std::system_error& error) {
    return fail(exit_failure, error.what());
  } catch (const reports::FileError& error) {
    return fail(exit_failure, error.what());
  } catch (const ChildFailed& error) {
    return fail(exit_failure, error.what());
  } catch (const std::bad_alloc&) {
    return fail(exit_failure, "out of memory; --depth plan needs the least, --model takes a smaller stack");
  } catch (const std::exception& error) {
    return fail(exit_failure, fmt::format("internal error: {}", error.what()));
  }
}

}  // namespace kvreplay::cli
