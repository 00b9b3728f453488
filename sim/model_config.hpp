// Dimensions of a Gemma2 decoder stack, its named profiles, and how they are overridden.
#pragma once

#include "policies/cache_policy.hpp"
#include "workloads/workload.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kvreplay::sim {

using Count = std::int64_t;

struct ModelConfig {
  std::string name;  // profile, checkpoint folder or "custom"
  Count num_layers = 26;
  Count hidden_size = 2304;
  Count num_heads = 8;
  Count num_kv_heads = 4;
  Count head_dim = 256;
  Count intermediate_size = 9216;  // 0: attention sub-layers only (no MLP)
  double query_pre_attn_scalar = 256;
  Count sliding_window = 4096;  // keys a query sees, itself included
  Count max_positions = 8192;
  Count vocab_size = 256000;
  double attn_softcap = 50;   // 0: off
  double final_softcap = 30;  // 0: off
  double rope_theta = 10000;
  double rms_norm_eps = 1e-6;
  bool has_head = true;      // false for the -attention profiles: no MLP, no logits
  std::vector<bool> slides;  // per layer; even layers slide unless a checkpoint says otherwise
  policies::ElementType cache_dtype = policies::ElementType::fp32;
  policies::ElementType weight_dtype = policies::ElementType::fp32;  // of matrices, not of norms
  std::uint64_t seed = 1;                                            // of random weights
  std::string checkpoint;  // folder with config.json and safetensors; empty: random weights

  policies::CacheGeometry geometry() const;
  Count num_parameters() const;
};

// What the command line says about the model.
struct ModelOptions {
  std::string model;     // NAME, NAME:key=value,... or :key=value,...; empty: the workload's
  std::string weights;   // folder or shipped name: weights without dimensions
  std::string kv_dtype;  // fp32 | bf16 | empty
  std::optional<Count> max_positions;
  std::string dtype = {};  // of the weights: fp32 | bf16 | empty
};

// Resolves profile or checkpoint, the workload's explicit keys, then the command line (docs/semantics.md, "Models").
// Throws InputError for faults of the workload or a checkpoint, OptionError for faults of the command line.
ModelConfig resolve_model(const workloads::Workload& workload, const ModelOptions& options);

// Throws as resolve_model does without a command line. A checkpoint folder that is not on this machine is no fault:
// then each key is checked alone and the problem is given.
std::optional<std::string> check_model(const workloads::Workload& workload);

// Names of the built-in profiles with a one-line description.
std::vector<std::pair<std::string, std::string>> model_profiles();

// Reads config.json of a checkpoint folder; missing keys take Hugging Face's Gemma2 defaults.
ModelConfig read_checkpoint_config(const std::string& folder);

// The folder of a shipped model (KVREPLAY_DATA_DIR, the installed share/kvreplay, or the source tree), or empty.
std::string shipped_model_folder(std::string_view name);

}  // namespace kvreplay::sim
