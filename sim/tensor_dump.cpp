#include "sim/tensor_dump.hpp"

#include "sim/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace kvreplay::sim {
namespace {

constexpr std::size_t longest_stem = 80;

std::string safe(const std::string& text) {
  std::string out;
  for (const char c : text.substr(0, longest_stem)) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
    out += plain ? c : '_';
  }
  return out;
}

// FNV-1a: only has to tell names apart that look alike once made safe.
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

TensorSource int_tensor(const std::string& name, const std::vector<std::int32_t>& values) {
  return {name, "I32", {static_cast<std::int64_t>(values.size())}, {std::as_bytes(std::span(values))}};
}

TensorSource float_tensor(const std::string& name, const std::vector<float>& values, std::size_t columns) {
  return {name,
          "F32",
          {static_cast<std::int64_t>(values.size() / columns), static_cast<std::int64_t>(columns)},
          {std::as_bytes(std::span(values))}};
}

}  // namespace

std::string dump_file_name(const std::string& workload_path, const std::string& policy) {
  const std::string normal = std::filesystem::path(workload_path).lexically_normal().string();
  const std::string stem = std::filesystem::path(workload_path).stem().string();
  return fmt::format("{}.{}.{:016x}.safetensors", safe(stem), safe(policy), hash_of(normal + '\n' + policy));
}

TensorDump::TensorDump(const std::string& folder, const workloads::Workload& workload, const std::string& policy,
                       const DecoderStack& stack, bool with_hidden)
    : path_((std::filesystem::path(folder) / dump_file_name(workload.path, policy)).string()),
      logits_size_(static_cast<std::size_t>(stack.logits_size())),
      hidden_size_(static_cast<std::size_t>(stack.config().hidden_size)),
      has_head_(stack.config().has_head),
      with_hidden_(with_hidden),
      metadata_{
          {"format", "kvreplay.dump/1"},        {"workload", workload.path},
          {"workload_sha256", workload.sha256}, {"policy", policy},
          {"model", stack.config().name},       {"sliding_window", fmt::format("{}", stack.config().sliding_window)}} {
  std::filesystem::create_directories(folder);
  const auto num_hidden = static_cast<std::size_t>(stack.config().num_layers + 1);
  hidden_.resize(num_hidden);
  current_.resize(num_hidden);
  stored_.resize(num_hidden);
}

void TensorDump::begin(Count ordinal, const workloads::Step& step) {
  (void)ordinal;
  for (auto& rows : current_) rows.clear();
  first_position_ = -1;
  add_list(step);
}

void TensorDump::add_list(const workloads::Step& step) {
  list_offsets_.push_back(static_cast<std::int32_t>(input_ids_.size()));
  input_ids_.insert(input_ids_.end(), step.tokens.begin(), step.tokens.end());
  if (!one_leaf_) return;
  const auto length = step.tokens.size();
  const auto shared = static_cast<std::size_t>(
      std::mismatch(
          step.tokens.begin(), step.tokens.end(), only_leaf_.begin(), only_leaf_.end(),
          [](workloads::TokenId id, std::int32_t leaf_id) { return static_cast<std::int32_t>(id) == leaf_id; })
          .first -
      step.tokens.begin());
  one_leaf_ = shared == std::min(length, only_leaf_.size());
  if (one_leaf_ && length > only_leaf_.size()) only_leaf_.assign(step.tokens.begin(), step.tokens.end());
}

void TensorDump::hidden(Count index, Count first_position, Count count, std::span<const float> rows) {
  if (first_position_ < 0) first_position_ = first_position;
  auto& kept = current_[static_cast<std::size_t>(index)];
  const auto values = rows.first(static_cast<std::size_t>(count) * hidden_size_);
  kept.insert(kept.end(), values.begin(), values.end());
}

void TensorDump::answer(const Answer& answer) {
  const auto length = static_cast<Count>(answer.step->tokens.size());
  const auto computed = static_cast<Count>(answer.computed_rows.size() / logits_size_);
  if (!answer.stored_row.empty()) {
    add_row(answer, length - answer.step->num_logits, answer.stored_row);
    for (std::size_t i = 0; with_hidden_ && i < hidden_.size(); ++i) {
      hidden_[i].insert(hidden_[i].end(), stored_[i].begin(), stored_[i].end());
    }
  }
  for (Count row = 0; row < computed; ++row) {
    const Count position = length - computed + row;
    add_row(answer, position, answer.computed_rows.subspan(static_cast<std::size_t>(row) * logits_size_, logits_size_));
    for (std::size_t i = 0; with_hidden_ && i < hidden_.size(); ++i) {
      const auto start = current_[i].begin() + static_cast<std::ptrdiff_t>(
                                                   static_cast<std::size_t>(position - first_position_) * hidden_size_);
      hidden_[i].insert(hidden_[i].end(), start, start + static_cast<std::ptrdiff_t>(hidden_size_));
    }
  }
  for (std::size_t i = 0; with_hidden_ && computed > 0 && i < stored_.size(); ++i) {
    stored_[i].assign(current_[i].end() - static_cast<std::ptrdiff_t>(hidden_size_), current_[i].end());
  }
}

void TensorDump::add_row(const Answer& answer, Count position, std::span<const float> logits) {
  rows_.push_back(static_cast<std::int32_t>(position));
  evaluation_.push_back(static_cast<std::int32_t>(answer.ordinal));
  sequence_.push_back(static_cast<std::int32_t>(answer.step->sequence));
  if (has_head_) logits_.insert(logits_.end(), logits.begin(), logits.end());
}

std::string TensorDump::write() const {
  std::vector<TensorSource> tensors;
  if (has_head_) tensors.push_back(float_tensor("logits", logits_, logits_size_));
  for (std::size_t i = 0; with_hidden_ && i < hidden_.size(); ++i) {
    tensors.push_back(float_tensor(fmt::format("hidden_{:02}", i), hidden_[i], hidden_size_));
  }
  tensors.push_back(int_tensor("rows", rows_));
  tensors.push_back(int_tensor("evaluation", evaluation_));
  tensors.push_back(int_tensor("sequence", sequence_));
  tensors.push_back(int_tensor("input_ids", one_leaf_ ? only_leaf_ : input_ids_));
  if (!one_leaf_) tensors.push_back(int_tensor("list_offsets", list_offsets_));
  write_safetensors(path_, tensors, metadata_);
  return path_;
}

}  // namespace kvreplay::sim
