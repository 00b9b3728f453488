// Reads kv-workload/1 files, strictly.
#pragma once

#include "workloads/workload.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace kvreplay::workloads {

// The vocabulary of the model a workload names (its profile or checkpoint, relative to the workload's path), or 0.
// Asked only if the file gives neither tokenizer.vocab nor model.vocab_size. Without an answer it is Gemma 2's, 256000.
using ModelVocab = std::function<Count(const ModelRequest& model, const std::string& workload_path)>;

// Reads and checks a file: syntax, keys, ranges, ledger rules of every event, and the policy-free part of `expect`.
// Throws InputError naming file, line, column and path for every fault, including files that cannot be read.
Workload read_workload(const std::string& path, const ModelVocab& model_vocab = {});

// The same from memory; `path` is used in messages.
Workload read_workload_text(std::string_view text, const std::string& path, const ModelVocab& model_vocab = {});

}  // namespace kvreplay::workloads
