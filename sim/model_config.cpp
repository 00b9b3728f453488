#include "sim/model_config.hpp"

#include "policies/option_error.hpp"
#include "sim/model_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace kvreplay::sim {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view default_profile = "gemma2-2b";

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

// `NAME:key=value,...` taken apart.
struct ModelText {
  std::string name;
  std::vector<std::pair<std::string, std::string>> overrides;
};

ModelText parse_model_text(const std::string& text) {
  if (is_folder(text)) return {text, {}};  // a path may hold colons; values never do
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return {text, {}};
  ModelText parsed{text.substr(0, colon), {}};
  for (std::size_t begin = colon + 1; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string pair = text.substr(begin, end - begin);
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == pair.size()) {
      throw policies::OptionError(fmt::format("--model {}: '{}' is not of the form key=value", text, pair));
    }
    parsed.overrides.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
    begin = end + 1;
  }
  return parsed;
}

// A configuration as it is put together, which remembers who set each key, so that a fault can name its place.
class Assembly {
 public:
  Assembly(const workloads::Workload& workload, ModelConfig base) : workload_(workload), config_(std::move(base)) {}

  void set_from_workload(const std::string& key, const workloads::Given<std::string>& given) {
    workload_marks_[key] = given.mark;
    if (const auto fault = set_model_key(config_, key, given.value)) fail(*fault, given.value);
  }

  void set_from_command_line(const std::string& option, const std::string& key, const std::string& value) {
    options_[key] = option;
    if (const auto fault = set_model_key(config_, key, value)) fail(*fault, value);
  }

  void set_checkpoint(const std::string& folder) { config_.checkpoint = folder; }

  ModelConfig finish() {
    complete_layer_kinds(config_);
    if (const auto fault = find_fault(config_)) fail(*fault, {});
    return config_;
  }

 private:
  [[noreturn]] void fail(const ModelFault& fault, const std::string& given) const {
    // An unknown key is itself what was mistyped.
    const bool unknown_key = fault.candidates == model_key_names();
    for (const std::string& key : fault.keys) {
      const auto option = options_.find(key);
      if (option == options_.end()) continue;
      throw policies::OptionError(fmt::format("{}: {}: {}", option->second, key, fault.problem),
                                  unknown_key ? key : given, fault.candidates);
    }
    for (const std::string& key : fault.keys) {
      const auto mark = workload_marks_.find(key);
      if (mark == workload_marks_.end()) continue;
      throw workloads::InputError(workload_.path, mark->second, "model." + key, fault.problem,
                                  unknown_key ? key : given, fault.candidates);
    }
    throw policies::OptionError(fmt::format("model {}: {}: {}", config_.name, fault.keys.front(), fault.problem));
  }

  const workloads::Workload& workload_;
  ModelConfig config_;
  std::map<std::string, workloads::SourceMark> workload_marks_;
  std::map<std::string, std::string> options_;
};

bool has_config(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / "config.json", error);
}

constexpr const char* no_config = "has no config.json; a checkpoint is a folder with config.json and safetensors files";

ModelConfig base_of_option(const std::string& name) {
  if (std::optional<ModelConfig> profile = find_profile(name)) return *profile;
  if (const std::string shipped = shipped_model_folder(name); !shipped.empty()) return read_checkpoint_config(shipped);
  if (is_folder(name)) {
    if (!has_config(name)) throw policies::OptionError(fmt::format("--model: '{}' {}", name, no_config));
    return read_checkpoint_config(name);
  }
  throw policies::OptionError(fmt::format("--model: no profile and no folder is called '{}'", name), name,
                              profile_names());
}

// The folder a workload names is not on this machine.
struct AbsentCheckpoint : workloads::InputError {
  using InputError::InputError;
};

// A relative folder is relative to the workload's file; a bare name may also be a shipped model's.
std::string checkpoint_of_workload(const workloads::Workload& workload, const workloads::Given<std::string>& given) {
  const fs::path folder = fs::path(workload.path).parent_path() / given.value;
  const std::string place = "model.checkpoint";
  std::string shown = folder.lexically_normal().string();
  if (is_folder(folder)) {
    if (has_config(folder)) return shown;
    throw workloads::InputError(workload.path, given.mark, place, fmt::format("'{}' {}", shown, no_config));
  }
  if (const std::string shipped = shipped_model_folder(given.value); !shipped.empty()) return shipped;
  std::error_code error;
  if (fs::exists(folder, error)) {
    throw workloads::InputError(workload.path, given.mark, place,
                                fmt::format("'{}' is no folder; name the one that has config.json", shown));
  }
  throw AbsentCheckpoint(workload.path, given.mark, place, fmt::format("there is no folder '{}'", shown));
}

ModelConfig base_of_workload(const workloads::Workload& workload) {
  const workloads::ModelRequest& request = workload.model;
  if (request.profile && request.checkpoint) {
    throw workloads::InputError(workload.path, request.checkpoint->mark, "model.checkpoint",
                                "give either a profile or a checkpoint, not both");
  }
  if (request.checkpoint) return read_checkpoint_config(checkpoint_of_workload(workload, *request.checkpoint));
  if (request.profile) {
    if (std::optional<ModelConfig> profile = find_profile(request.profile->value)) return *profile;
    throw workloads::InputError(workload.path, request.profile->mark, "model.profile",
                                fmt::format("there is no profile '{}'", request.profile->value), request.profile->value,
                                profile_names());
  }
  ModelConfig config = *find_profile(default_profile);
  if (!request.overrides.empty()) config.name = "custom";
  return config;
}

std::string weights_folder(const std::string& given) {
  if (const std::string shipped = shipped_model_folder(given); !shipped.empty()) return shipped;
  if (is_folder(given)) return given;
  throw policies::OptionError(fmt::format("--weights: no folder and no shipped model is called '{}'", given), given);
}

void apply_command_line(Assembly& assembly, const ModelText& model, const ModelOptions& options) {
  std::vector<std::string> seen;
  for (const auto& [key, value] : model.overrides) {
    if (key == "profile" || key == "checkpoint") {
      throw policies::OptionError(fmt::format("--model: write the {} before the colon", key));
    }
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
      throw policies::OptionError(fmt::format("--model: {} is given twice", key));
    }
    seen.push_back(key);
    assembly.set_from_command_line("--model", key, value);
  }
  if (!options.kv_dtype.empty()) assembly.set_from_command_line("--kv-dtype", "dtype", options.kv_dtype);
  if (options.max_positions) {
    assembly.set_from_command_line("--max-positions", "max_positions", std::to_string(*options.max_positions));
  }
  if (!options.weights.empty()) assembly.set_checkpoint(weights_folder(options.weights));
}

}  // namespace

policies::CacheGeometry ModelConfig::geometry() const {
  return {num_kv_heads, head_dim, cache_dtype, sliding_window, max_positions, slides};
}

Count ModelConfig::num_parameters() const {
  const Count attention = 2 * hidden_size * head_dim * (num_heads + num_kv_heads) + 2 * hidden_size;
  const Count mlp = intermediate_size == 0 ? 0 : 3 * hidden_size * intermediate_size + 2 * hidden_size;
  return (has_head ? vocab_size * hidden_size : 0) + num_layers * (attention + mlp) + hidden_size;
}

ModelConfig resolve_model(const workloads::Workload& workload, const ModelOptions& options) {
  const ModelText model = parse_model_text(options.model);
  Assembly assembly(workload, model.name.empty() ? base_of_workload(workload) : base_of_option(model.name));
  if (model.name.empty()) {
    for (const auto& [key, given] : workload.model.overrides) assembly.set_from_workload(key, given);
  }
  apply_command_line(assembly, model, options);
  ModelConfig config = assembly.finish();
  if (options.dtype == "bf16") config.weight_dtype = policies::ElementType::bf16;
  return config;
}

std::optional<std::string> check_model(const workloads::Workload& workload) {
  try {
    (void)resolve_model(workload, {});
    return {};
  } catch (const AbsentCheckpoint& absent) {
    Assembly assembly(workload, {});
    for (const auto& [key, given] : workload.model.overrides) assembly.set_from_workload(key, given);
    return absent.what();
  }
}

}  // namespace kvreplay::sim
