#include "sim/model_keys.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <variant>

namespace kvreplay::sim {
namespace {

// Bounds are far above any real model; they keep every product of dimensions inside 64 bits.
struct WholeNumber {
  Count ModelConfig::* member;
  Count least, most;
};
struct Decimal {
  double ModelConfig::* member;
  double above, most;  // open below
};
struct Softcap {
  double ModelConfig::* member;
};
struct Dtype {};
struct Seed {};

struct Rule {
  ModelKey key;
  std::variant<WholeNumber, Decimal, Softcap, Dtype, Seed> value;
};

constexpr Count positions_limit = Count{1} << 40;
constexpr Count query_width_limit = Count{1} << 24;
constexpr double cache_bytes_limit = 0x1p60;

constexpr std::array<Rule, 16> rules{{
    {{"num_layers", "num_hidden_layers"}, WholeNumber{&ModelConfig::num_layers, 1, 10'000}},
    {{"hidden_size", "hidden_size"}, WholeNumber{&ModelConfig::hidden_size, 1, 1 << 20}},
    {{"num_heads", "num_attention_heads"}, WholeNumber{&ModelConfig::num_heads, 1, 1 << 16}},
    {{"num_kv_heads", "num_key_value_heads"}, WholeNumber{&ModelConfig::num_kv_heads, 1, 1 << 16}},
    {{"head_dim", "head_dim"}, WholeNumber{&ModelConfig::head_dim, 2, 1 << 16}},
    {{"intermediate_size", "intermediate_size"}, WholeNumber{&ModelConfig::intermediate_size, 0, 1 << 24}},
    {{"query_pre_attn_scalar", "query_pre_attn_scalar"}, Decimal{&ModelConfig::query_pre_attn_scalar, 0, 1e12}},
    {{"sliding_window", "sliding_window"}, WholeNumber{&ModelConfig::sliding_window, 1, positions_limit}},
    {{"max_positions", "max_position_embeddings"}, WholeNumber{&ModelConfig::max_positions, 1, positions_limit}},
    {{"vocab_size", "vocab_size"}, WholeNumber{&ModelConfig::vocab_size, 1, Count{1} << 32}},
    {{"attn_softcap", "attn_logit_softcapping"}, Softcap{&ModelConfig::attn_softcap}},
    {{"final_softcap", "final_logit_softcapping"}, Softcap{&ModelConfig::final_softcap}},
    {{"rope_theta", "rope_theta"}, Decimal{&ModelConfig::rope_theta, 0, 1e30}},
    {{"rms_norm_eps", "rms_norm_eps"}, Decimal{&ModelConfig::rms_norm_eps, 0, 1e30}},
    {{"dtype", ""}, Dtype{}},
    {{"seed", ""}, Seed{}},
}};

constexpr auto keys = [] {
  std::array<ModelKey, rules.size()> names{};
  for (std::size_t index = 0; index < rules.size(); ++index) names[index] = rules[index].key;
  return names;
}();

// What is wrong with a value, or nothing.
using Problem = std::optional<std::string>;

template <typename T>
bool parse(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

Problem problem_of(const WholeNumber& rule, Count value) {
  if (value >= rule.least && value <= rule.most) return {};
  return fmt::format("must be from {} to {}, is {}", rule.least, rule.most, value);
}

Problem problem_of(const Decimal& rule, double value) {
  if (std::isfinite(value) && value > rule.above && value <= rule.most) return {};
  return fmt::format("must be above {} and at most {}, is {}", rule.above, rule.most, value);
}

Problem problem_of(const Softcap&, double value) {
  if (std::isfinite(value) && value > 0) return {};
  return fmt::format("must be a finite number above 0 (or off), is {}", value);
}

Problem set(ModelConfig& config, const WholeNumber& rule, std::string_view text) {
  if (!parse(text, config.*rule.member)) return fmt::format("must be a whole number, is '{}'", text);
  return problem_of(rule, config.*rule.member);
}

Problem set(ModelConfig& config, const Decimal& rule, std::string_view text) {
  if (!parse(text, config.*rule.member)) return fmt::format("must be a number, is '{}'", text);
  return problem_of(rule, config.*rule.member);
}

Problem set(ModelConfig& config, const Softcap& rule, std::string_view text) {
  const bool off = text == "off" || text == "null";
  if (off) config.*rule.member = 0;
  if (off) return {};
  if (!parse(text, config.*rule.member)) return fmt::format("must be a number or off, is '{}'", text);
  return problem_of(rule, config.*rule.member);
}

Problem set(ModelConfig& config, const Dtype&, std::string_view text) {
  if (text != "fp32" && text != "bf16") return fmt::format("must be fp32 or bf16, is '{}'", text);
  config.cache_dtype = text == "fp32" ? policies::ElementType::fp32 : policies::ElementType::bf16;
  return {};
}

Problem set(ModelConfig& config, const Seed&, std::string_view text) {
  if (!parse(text, config.seed)) return fmt::format("must be a whole number from 0 to 2^64 - 1, is '{}'", text);
  return {};
}

// The range check of one member; words and seeds have none once they are parsed.
struct RangeCheck {
  const ModelConfig& config;
  Problem operator()(const WholeNumber& rule) const { return problem_of(rule, config.*rule.member); }
  Problem operator()(const Decimal& rule) const { return problem_of(rule, config.*rule.member); }
  Problem operator()(const Softcap& rule) const {
    return config.*rule.member == 0 ? Problem{} : problem_of(rule, config.*rule.member);
  }
  Problem operator()(const Dtype&) const { return {}; }
  Problem operator()(const Seed&) const { return {}; }
};

}  // namespace

std::span<const ModelKey> model_keys() { return keys; }

std::vector<std::string> model_key_names() {
  std::vector<std::string> names;
  names.reserve(keys.size());
  for (const ModelKey& key : keys) names.emplace_back(key.name);
  return names;
}

std::optional<ModelFault> set_model_key(ModelConfig& config, std::string_view key, std::string_view text) {
  for (const Rule& rule : rules) {
    if (rule.key.name != key) continue;
    const Problem problem = std::visit([&](const auto& value) { return set(config, value, text); }, rule.value);
    if (!problem) return {};
    std::vector<std::string> candidates;
    if (std::holds_alternative<Dtype>(rule.value)) candidates = {"fp32", "bf16"};
    return ModelFault{{std::string(key)}, *problem, candidates};
  }
  return ModelFault{{std::string(key)}, "is not a key of a model", model_key_names()};
}

std::optional<ModelFault> find_fault(const ModelConfig& config) {
  for (const Rule& rule : rules) {
    if (const Problem problem = std::visit(RangeCheck{config}, rule.value)) {
      return ModelFault{{std::string(rule.key.name)}, *problem, {}};
    }
  }
  if (config.num_heads % config.num_kv_heads != 0) {
    return ModelFault{
        {"num_heads", "num_kv_heads"},
        fmt::format("num_heads ({}) must be a multiple of num_kv_heads ({})", config.num_heads, config.num_kv_heads),
        {}};
  }
  if (config.head_dim % 2 != 0) {
    return ModelFault{{"head_dim"}, fmt::format("must be even (RoPE turns pairs), is {}", config.head_dim), {}};
  }
  if (config.num_heads * config.head_dim > query_width_limit) {
    return ModelFault{
        {"num_heads", "head_dim"}, fmt::format("num_heads x head_dim must be at most {}", query_width_limit), {}};
  }
  if (static_cast<Count>(config.slides.size()) != config.num_layers) {
    return ModelFault{
        {"num_layers"}, fmt::format("{} layer kinds for {} layers", config.slides.size(), config.num_layers), {}};
  }
  const auto row_bytes = static_cast<double>(config.geometry().row_bytes());
  const double cache_bytes =
      row_bytes * static_cast<double>(config.num_layers) * static_cast<double>(config.max_positions);
  if (cache_bytes > cache_bytes_limit) {
    return ModelFault{{"max_positions", "num_layers", "num_kv_heads", "head_dim"},
                      fmt::format("a cache of {} positions would have {:.3g} bytes", config.max_positions, cache_bytes),
                      {}};
  }
  return {};
}

void complete_layer_kinds(ModelConfig& config) {
  const auto num_layers = static_cast<std::size_t>(config.num_layers);
  config.slides.resize(std::min(config.slides.size(), num_layers));
  while (config.slides.size() < num_layers) config.slides.push_back(config.slides.size() % 2 == 0);
}

}  // namespace kvreplay::sim
