#include "policies/option_error.hpp"
#include "sim/build_info.hpp"
#include "sim/model_keys.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>

namespace kvreplay::sim {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view tiny_name = "tiny-gemma2";
constexpr std::string_view attention_suffix = "-attention";

// Dimensions: google/gemma-2-2b, -9b, -27b config.json; what is not named here is the same in all three.
struct Profile {
  std::string_view name;
  std::string_view description;
  Count num_layers, hidden_size, num_heads, num_kv_heads, head_dim, intermediate_size;
  double query_pre_attn_scalar;
  Count sliding_window, max_positions, vocab_size;
};

constexpr std::array<Profile, 4> profiles{{
    {"gemma2-2b", "Gemma 2 2B: 26 layers", 26, 2304, 8, 4, 256, 9216, 256, 4096, 8192, 256000},
    {"gemma2-9b", "Gemma 2 9B: 42 layers", 42, 3584, 16, 8, 256, 14336, 256, 4096, 8192, 256000},
    {"gemma2-27b", "Gemma 2 27B: 46 layers", 46, 4608, 32, 16, 128, 36864, 144, 4096, 8192, 256000},
    {"toy", "for tests: 4 layers, hidden 64, window 8", 4, 64, 4, 2, 16, 128, 16, 8, 512, 256},
}};

ModelConfig config_of(const Profile& profile, bool attention_only) {
  ModelConfig config;
  config.name = std::string(profile.name);
  config.num_layers = profile.num_layers;
  config.hidden_size = profile.hidden_size;
  config.num_heads = profile.num_heads;
  config.num_kv_heads = profile.num_kv_heads;
  config.head_dim = profile.head_dim;
  config.intermediate_size = profile.intermediate_size;
  config.query_pre_attn_scalar = profile.query_pre_attn_scalar;
  config.sliding_window = profile.sliding_window;
  config.max_positions = profile.max_positions;
  config.vocab_size = profile.vocab_size;
  if (attention_only) {
    config.name += attention_suffix;
    config.intermediate_size = 0;
    config.has_head = false;
  }
  complete_layer_kinds(config);
  return config;
}

fs::path executable_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : program.parent_path();
}

// Where data may lie, best first: what the user says, beside an installed program, the sources this was built from.
std::vector<fs::path> data_folders() {
  std::vector<fs::path> folders;
  if (const char* given = std::getenv("KVREPLAY_DATA_DIR"); given != nullptr && *given != '\0')
    folders.emplace_back(given);
  if (const fs::path program = executable_folder(); !program.empty()) {
    folders.push_back(program.parent_path() / "share" / "kvreplay");
  }
  folders.emplace_back(build_info::source_folder);
  return folders;
}

}  // namespace

std::string shipped_model_folder(std::string_view name) {
  // A name is one plain component, so that it can not lead out of the folder.
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string_view::npos) return {};
  for (const fs::path& data : data_folders()) {
    const fs::path folder = data / "workloads" / "models" / name;
    std::error_code error;
    if (fs::is_regular_file(folder / "config.json", error)) return folder.string();
  }
  return {};
}

std::optional<ModelConfig> find_profile(std::string_view name) {
  if (name == tiny_name) {
    const std::string folder = shipped_model_folder(name);
    if (folder.empty()) {
      throw policies::OptionError(
          "model tiny-gemma2: its files are neither in $KVREPLAY_DATA_DIR nor in the installed share/kvreplay nor in "
          "the "
          "sources");
    }
    ModelConfig config = read_checkpoint_config(folder);
    config.name = std::string(name);
    return config;
  }
  for (const Profile& profile : profiles) {
    if (name == profile.name) return config_of(profile, false);
    if (name.starts_with(profile.name) && name.substr(profile.name.size()) == attention_suffix) {
      return config_of(profile, true);
    }
  }
  return {};
}

std::vector<std::pair<std::string, std::string>> model_profiles() {
  std::vector<std::pair<std::string, std::string>> list;
  for (const Profile& profile : profiles) {
    list.emplace_back(profile.name, profile.description);
    list.emplace_back(std::string(profile.name) + std::string(attention_suffix),
                      std::string(profile.description) + "; attention sub-layers only, no MLP, no logits");
  }
  list.emplace_back(tiny_name, "trained weights: 6 layers, hidden 128, window 64 (shipped checkpoint)");
  return list;
}

std::vector<std::string> profile_names() {
  std::vector<std::string> names;
  for (const auto& [name, description] : model_profiles()) names.push_back(name);
  return names;
}

}  // namespace kvreplay::sim
