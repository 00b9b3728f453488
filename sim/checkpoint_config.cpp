#include "sim/mapped_file.hpp"
#include "sim/model_keys.hpp"
#include "sim/strict_json.hpp"
#include "workloads/input_error.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace kvreplay::sim {
namespace {

// One config.json while it is read.
class ConfigFile {
 public:
  explicit ConfigFile(const std::string& folder)
      : path_((std::filesystem::path(folder) / "config.json").string()),
        document_(parse_json_object(MappedFile(path_).text(), path_)) {}

  [[noreturn]] void fail(const std::string& key, const std::string& problem,
                         std::vector<std::string> candidates = {}) const {
    throw workloads::InputError(path_, {}, key, problem, {}, std::move(candidates));
  }

  // The value of a key, or nullptr where it is missing.
  const nlohmann::json* find(const std::string& key) const {
    const auto found = document_.find(key);
    return found == document_.end() ? nullptr : &*found;
  }

  // A key whose only value we can compute with is `wanted`; `null_is_fine` where transformers takes null as unset.
  void require(const std::string& key, const nlohmann::json& wanted, bool null_is_fine = false) const {
    const nlohmann::json* value = find(key);
    if (value == nullptr || *value == wanted || (null_is_fine && value->is_null())) return;
    fail(key, fmt::format("must be {} for this stack, is {}", wanted.dump(), value->dump()));
  }

  void set(ModelConfig& config, const ModelKey& key, const std::string& place, const nlohmann::json& value) const {
    const bool softcap_off = value.is_null() && key.name.ends_with("softcap");
    if (!value.is_number() && !softcap_off) fail(place, fmt::format("must be a number, is {}", value.dump()));
    // intermediate_size 0 means "no MLP" to our own keys only.
    if (key.name == "intermediate_size" && value == 0) fail(place, "must be at least 1, is 0");
    if (const auto fault = set_model_key(config, key.name, value.dump()))
      fail(place, fault->problem, fault->candidates);
  }

 private:
  std::string path_;
  nlohmann::json document_;
};

// Rope settings moved from `rope_theta` and `rope_scaling` into `rope_parameters` in transformers 5.
void read_rope(const ConfigFile& file, ModelConfig& config) {
  for (const std::string key : {"rope_scaling", "rope_parameters"}) {
    const nlohmann::json* rope = file.find(key);
    if (rope == nullptr || rope->is_null()) continue;
    if (!rope->is_object()) file.fail(key, "must be an object or null");
    for (const auto& [name, value] : rope->items()) {
      const std::string place = fmt::format("{}.{}", key, name);
      if (name == "rope_theta") {
        file.set(config, {"rope_theta", "rope_theta"}, place, value);
      } else if ((name != "rope_type" && name != "type") || value != "default") {
        file.fail(place, "only unscaled RoPE is known (rope_type \"default\")");
      }
    }
  }
}

void read_layer_types(const ConfigFile& file, ModelConfig& config) {
  const nlohmann::json* types = file.find("layer_types");
  if (types == nullptr || types->is_null()) return;
  if (!types->is_array()) file.fail("layer_types", "must be a list");
  if (static_cast<Count>(types->size()) != config.num_layers) {
    file.fail("layer_types", fmt::format("has {} entries for {} layers", types->size(), config.num_layers));
  }
  for (std::size_t layer = 0; layer < types->size(); ++layer) {
    const nlohmann::json& type = (*types)[layer];
    if (type != "sliding_attention" && type != "full_attention") {
      file.fail(fmt::format("layer_types[{}]", layer), fmt::format("unknown kind of layer {}", type.dump()),
                {"sliding_attention", "full_attention"});
    }
    config.slides.push_back(type == "sliding_attention");
  }
}

std::string place_of(const std::string& model_key) {
  for (const ModelKey& key : model_keys()) {
    if (key.name == model_key) return std::string(key.checkpoint_name);
  }
  return model_key;
}

}  // namespace

ModelConfig read_checkpoint_config(const std::string& folder) {
  const ConfigFile file(folder);
  file.require("model_type", "gemma2");
  file.require("hidden_activation", "gelu_pytorch_tanh");
  file.require("tie_word_embeddings", true);
  file.require("attention_bias", false);
  file.require("use_bidirectional_attention", false, true);
  file.require("quantization_config", nullptr);
  ModelConfig config;  // its initial values are the defaults of transformers' Gemma2Config
  for (const ModelKey& key : model_keys()) {
    if (key.checkpoint_name.empty()) continue;
    const std::string place(key.checkpoint_name);
    if (const nlohmann::json* value = file.find(place)) file.set(config, key, place, *value);
  }
  read_rope(file, config);
  read_layer_types(file, config);
  complete_layer_kinds(config);
  config.name = folder;
  config.checkpoint = folder;
  if (const auto fault = find_fault(config)) file.fail(place_of(fault->keys.front()), fault->problem);
  return config;
}

}  // namespace kvreplay::sim
