#include "cli/shard.hpp"

#include "cli/numbers.hpp"
#include "cli/terminal.hpp"
#include "policies/option_error.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <vector>

namespace kvreplay::cli {
namespace {

using reports::Count;

constexpr Count most_shards = 1'000'000;

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

Count number_in(const char* name, Count least, Count otherwise) {
  const auto value = variable(name);
  constexpr Count most = Count{1} << 40;
  return value ? parse_count(name, *value, least, most) : otherwise;
}

struct Engine {
  const char* variable;  // says that it is this one
  Count (*index)();      // from 1
  const char* count;     // variable that holds N, or null
};

Count slurm_index() {
  const Count step = number_in("SLURM_ARRAY_TASK_STEP", 1, 1), first = number_in("SLURM_ARRAY_TASK_MIN", 0, 0);
  const Count id = number_in("SLURM_ARRAY_TASK_ID", first, 0);
  if ((id - first) % step != 0) {
    throw policies::OptionError(
        fmt::format("--shard auto: SLURM_ARRAY_TASK_ID {} is no whole number of steps of {} from {}", id, step, first));
  }
  return (id - first) / step + 1;
}

constexpr Engine engines[] = {
    {"SLURM_ARRAY_TASK_ID", slurm_index, "SLURM_ARRAY_TASK_COUNT"},
    {"JOB_COMPLETION_INDEX", [] { return number_in("JOB_COMPLETION_INDEX", 0, 0) + 1; }, nullptr},
    {"PARALLEL_SEQ", [] { return number_in("PARALLEL_SEQ", 1, 1); }, nullptr},
    {"CI_NODE_INDEX", [] { return number_in("CI_NODE_INDEX", 1, 1); }, "CI_NODE_TOTAL"},
};

const Engine& engine_around() {
  const Engine* found = nullptr;
  std::vector<std::string> names;
  for (const Engine& engine : engines) {
    names.emplace_back(engine.variable);
    if (!variable(engine.variable)) continue;
    if (found != nullptr) {
      throw policies::OptionError(fmt::format("--shard auto: {} and {} are both set; say --shard I/N yourself",
                                              found->variable, engine.variable));
    }
    found = &engine;
  }
  if (found == nullptr) {
    throw policies::OptionError(
        fmt::format("--shard auto: none of {} is set; say --shard I/N yourself", fmt::join(names, ", ")));
  }
  return *found;
}

reports::Shard shard_from_environment(const std::optional<Count>& given_count) {
  const Engine& engine = engine_around();
  const bool tells = engine.count != nullptr && variable(engine.count);
  if (!tells && !given_count) {
    throw policies::OptionError(
        fmt::format("--shard auto: {} does not come with the number of shards; say --shard auto/N", engine.variable));
  }
  const Count count = tells ? number_in(engine.count, 1, 1) : *given_count;
  if (given_count && *given_count != count) {
    throw policies::OptionError(fmt::format("--shard auto/{}: {} says {}", *given_count, engine.count, count));
  }
  const Count index = engine.index();
  if (index > count) {
    throw policies::OptionError(
        fmt::format("--shard auto: {} makes this shard {} of {}", engine.variable, index, count));
  }
  say(fmt::format("note: --shard {}/{} from {}", index, count, engine.variable));
  return {.index = index, .count = count, .num_cells = 0};
}

}  // namespace

reports::Shard parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  const std::string index = text.substr(0, slash);
  const bool has_count = slash != std::string::npos;
  const std::string count = has_count ? text.substr(slash + 1) : std::string();
  if (index == "auto") {
    return shard_from_environment(has_count ? std::optional(parse_count("--shard", count, 1, most_shards))
                                            : std::nullopt);
  }
  if (!has_count) throw policies::OptionError(fmt::format("--shard takes I/N, auto or auto/N, not '{}'", text));
  const Count shards = parse_count("--shard", count, 1, most_shards);
  return {.index = parse_count("--shard", index, 1, shards), .count = shards, .num_cells = 0};
}

}  // namespace kvreplay::cli
