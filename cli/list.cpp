// list: what there is to choose from.

#include "cli/commands.hpp"
#include "cli/exit_codes.hpp"
#include "policies/option_error.hpp"
#include "policies/registry.hpp"
#include "reports/formats.hpp"
#include "reports/metrics.hpp"
#include "sim/model_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

namespace kvreplay::cli {
namespace {

void list_policies() {
  for (const policies::PolicyEntry& entry : policies::policy_table()) {
    fmt::print("{:<32} {}\n", entry.name, entry.summary);
  }
  fmt::print("\nOptions and defaults: kvreplay run --policy help\n");
}

void list_models() {
  for (const auto& [name, summary] : sim::model_profiles()) fmt::print("{:<22} {}\n", name, summary);
  fmt::print("\nA folder with config.json (and safetensors) is a model too. Overrides: NAME:key=value,key=value\n");
}

void list_workloads() {
  const std::filesystem::path models = std::filesystem::path(sim::shipped_model_folder("tiny-gemma2")).parent_path();
  std::error_code error;
  std::vector<std::string> paths;
  const auto add = [&paths](const std::filesystem::path& path) {
    if (path.extension() == ".yaml") paths.push_back(path.string());
  };
  for (const std::string folder : {"recorded", "constructed"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(models.parent_path() / folder, error)) {
      add(entry.path());
    }
  }
  for (const auto& entry : std::filesystem::directory_iterator(models.parent_path(), error)) add(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) fmt::print("{}\n", path);
}

void list_metrics() {
  for (const reports::Metric& metric : reports::metric_table()) {
    fmt::print("{:<36} {:<12} {:<9} {:<8} {}\n", metric.name, metric.unit, reports::name_of(metric.kind),
               reports::name_of(metric.better), metric.meaning);
  }
}

void list_formats() {
  for (const reports::Format& format : reports::format_table()) {
    fmt::print("{:<18} {:<14} {}\n", format.name, format.extension, format.meaning);
  }
}

int list(const std::string& what) {
  if (what == "policies") {
    list_policies();
  } else if (what == "models") {
    list_models();
  } else if (what == "workloads") {
    list_workloads();
  } else if (what == "metrics") {
    list_metrics();
  } else if (what == "formats") {
    list_formats();
  } else {
    const std::vector<std::string> choices{"policies", "models", "workloads", "metrics", "formats"};
    throw policies::OptionError(fmt::format("list knows nothing called '{}'", what), what, choices);
  }
  return exit_ok;
}

}  // namespace

void add_list(CLI::App& program, Command& chosen) {
  auto what = std::make_shared<std::string>();
  CLI::App* command = program.add_subcommand("list", "List policies, models, workloads, metrics or formats");
  command->add_option("WHAT", *what, "policies, models, workloads, metrics or formats")->required();
  command->callback([what, &chosen] { chosen = [what] { return list(*what); }; });
}

}  // namespace kvreplay::cli
