#include "cli/verdicts.hpp"

#include "cli/commands.hpp"
#include "cli/exit_codes.hpp"
#include "reports/budgets.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kvreplay::cli {
namespace {

std::string claim_of(const reports::Verification& v) {
  if (v.claimed_inexact == 0) return "the policy claims to be exact";
  if (v.unexpected_differences.empty() && v.unexpected_equalities.empty()) {
    return "exactly those the policy itself says are wrong";
  }
  return fmt::format("the policy itself says {} are wrong: {} differ unannounced, {} are right unannounced",
                     v.claimed_inexact, v.unexpected_differences.size(), v.unexpected_equalities.size());
}

std::string verdict_of(const reports::Verification& v) {
  if (v.evaluations_compared == 0) return "NOTHING was compared";
  if (v.passed()) {
    const std::string claim = v.claimed_inexact == 0 ? "" : "; " + claim_of(v);
    return fmt::format("equal in all {} evaluations (largest difference {:.1e} of 1 + |x|, tolerance {:.0e}){}",
                       v.evaluations_compared, v.max_difference_exact, v.tolerance, claim);
  }
  const reports::VerificationFailure& first = *v.first_difference;
  return fmt::format(
      "DIFFERS in {} of {} evaluations, first at evaluation {} (line {}): {} at position {} is off by {:.1e}; {}",
      v.evaluations_differing, v.evaluations_compared, first.evaluation, first.line, first.where, first.position,
      first.difference, claim_of(v));
}

}  // namespace

void print_verdicts(const reports::ResultFile& results) {
  for (const reports::RunResult& result : results.results) {
    if (!result.verification) continue;
    fmt::print("{} through {}: {}\n", result.workload.path, result.policy.spec, verdict_of(*result.verification));
    if (!result.outcome.completed()) {
      fmt::print("    the run ended with {}: {}\n", result.outcome.kind, result.outcome.message);
    }
  }
}

int exit_code_of(const reports::ResultFile& results, const std::vector<std::string>& fail_on) {
  if (interrupted) return exit_interrupted;
  const bool outcomes_count = std::find(fail_on.begin(), fail_on.end(), "outcome") != fail_on.end();
  int code = reports::tally_of(results).broken > 0 ? exit_gate_failed : exit_ok;
  for (const reports::RunResult& result : results.results) {
    if (result.verification && (!result.verification->passed() || result.verification->evaluations_compared == 0))
      code = exit_gate_failed;
    if (outcomes_count && !result.outcome.completed()) code = exit_gate_failed;
  }
  return code;
}

std::vector<std::pair<std::string, std::string>> config_of(const std::string& command, const RunTexts& texts) {
  const auto policies = texts.policies.empty() ? policies::seed_policies() : texts.policies;
  const auto given = [](const std::string& text, const std::string& otherwise) {
    return text.empty() ? otherwise : text;
  };
  return {{"command", command},
          {"workloads", fmt::format("{}", fmt::join(texts.files, " "))},
          {"policies", fmt::format("{}", fmt::join(policies, " "))},
          {"model", given(texts.model.model, "the workload's")},
          {"weights", given(texts.model.weights, "the model's")},
          {"dtype", given(texts.model.dtype, "fp32")},
          {"kv_dtype", given(texts.model.kv_dtype, "the model's")},
          {"max_positions", given(texts.model.max_positions, "the model's")},
          {"at_limit", texts.model.at_limit},
          {"depth", texts.depth},
          {"repetitions", texts.repetitions},
          {"threads", texts.threads},
          {"kernels", texts.kernels},
          {"pages", texts.pages},
          {"prefill_chunk", given(texts.prefill_chunk, "none")},
          {"memory_limit", given(texts.memory_limit, "none")},
          {"truncate", texts.truncate},
          {"fail_on",
           texts.fail_on.empty() ? "verification" : fmt::format("verification {}", fmt::join(texts.fail_on, " "))},
          {"verify", texts.verify ? "yes" : "no"},
          {"interrupted", interrupted ? "yes" : "no"}};
}

}  // namespace kvreplay::cli
