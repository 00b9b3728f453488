// The keys of a model: one table for the workload's `model` block, the command line and config.json.
#pragma once

#include "sim/model_config.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvreplay::sim {

struct ModelKey {
  std::string_view name;
  std::string_view checkpoint_name;  // in Hugging Face's config.json; empty: not there
};
std::span<const ModelKey> model_keys();
std::vector<std::string> model_key_names();

// A value that does not fit its key or another key's value.
struct ModelFault {
  std::vector<std::string> keys;  // whose values are at fault, the most telling one first
  std::string problem;
  std::vector<std::string> candidates;  // of words
};

// Sets `key` of `config` from its text: whole numbers, decimal numbers, `off` for a softcap, fp32 or bf16. Checks the
// value's own range. `key` must be one of model_keys().
std::optional<ModelFault> set_model_key(ModelConfig& config, std::string_view key, std::string_view text);

// Checks every range and how the dimensions fit each other. A model that passes has sizes in bytes that fit 62 bits.
std::optional<ModelFault> find_fault(const ModelConfig& config);

// Completes `slides` to one entry per layer: even layers slide (transformers, Gemma2Config.layer_types).
void complete_layer_kinds(ModelConfig& config);

// A built-in profile, or nothing. The shipped checkpoint: throws InputError if it is broken, OptionError if it is gone.
std::optional<ModelConfig> find_profile(std::string_view name);
std::vector<std::string> profile_names();

}  // namespace kvreplay::sim
