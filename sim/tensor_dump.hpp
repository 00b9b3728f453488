// Writes what a replay answered as one safetensors file, so that anyone can lay it beside their engine's outputs.
//
// Tensors, one row per wanted row of logits in order of evaluation and position: `logits`, `rows` (positions),
// `evaluation`, `sequence` (I32), with hidden rows also `hidden_00` ... of the same rows. `input_ids` holds all
// evaluated lists one after the other with their starts in `list_offsets`; where one list extends all others, that list
// alone. A run cut short dumps the evaluations it completed.
#pragma once

#include "sim/replay.hpp"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace kvreplay::sim {

class TensorDump : public ReplayListener {
 public:
  // Creates `folder` if need be. Throws std::system_error where it cannot be written.
  TensorDump(const std::string& folder, const workloads::Workload& workload, const std::string& policy,
             const DecoderStack& stack, bool with_hidden);

  bool wants_hidden() const override { return with_hidden_; }
  void begin(Count ordinal, const workloads::Step& step) override;
  void hidden(Count index, Count first_position, Count count, std::span<const float> rows) override;
  void answer(const Answer& answer) override;

  // Writes the file whole and gives its path.
  std::string write() const;

 private:
  void add_list(const workloads::Step& step);
  void add_row(const Answer& answer, Count position, std::span<const float> logits);

  std::string path_;
  std::size_t logits_size_, hidden_size_;
  bool has_head_, with_hidden_;
  std::map<std::string, std::string> metadata_;

  std::vector<float> logits_;
  std::vector<std::vector<float>> hidden_;  // by index, rows as in logits_
  std::vector<std::int32_t> rows_, evaluation_, sequence_;

  // Every list as asked, until one does not extend the one before.
  std::vector<std::int32_t> input_ids_, list_offsets_;
  std::vector<std::int32_t> only_leaf_;
  bool one_leaf_ = true;

  // Hidden rows of the evaluation under way: by index, positions [first, first + count).
  Count first_position_ = 0;
  std::vector<std::vector<float>> current_;
  // Hidden rows of the stored answer, repeated by cached answers.
  std::vector<std::vector<float>> stored_;
};

// A file name for this workload file and policy: readable, safe, and different for different pairs.
std::string dump_file_name(const std::string& workload_path, const std::string& policy);

}  // namespace kvreplay::sim
