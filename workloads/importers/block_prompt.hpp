// Prompts that are known by the hashes of their blocks only.
#pragma once

#include "workloads/importers/json_row.hpp"
#include "workloads/importers/workload_draft.hpp"

#include <vector>

namespace kvreplay::workloads::importers {

// Names of the streams: block A of "b" stands for the hash A; index A of "tail" for the tokens behind the last hash of
// row A, which no other row has.
void add_block_streams(WorkloadDraft& draft);

struct BlockPrompt {
  std::vector<Count> hashes;
  Count length = 0;         // tokens, before scaling
  Count hashed_length = 0;  // those the hashes stand for
};

// Reads a prompt of `length_key` tokens in blocks of `block`. Traces hash either whole blocks only, or the partial last
// one too; any other number of hashes is an InputError.
BlockPrompt read_block_prompt(const JsonRow& row, const char* length_key, Count block);

// The prompt's tokens from `from` on (in scaled tokens, a multiple of the scaled block), scaled: every block of `block`
// tokens becomes one of block / scale. Runs of hashes become ranges.
Tokens prompt_tokens(const BlockPrompt& prompt, Count block, Count scale, std::uint64_t row_index, Count from = 0);

// --block or the format's own block size. Throws InputError if --scale does not divide it.
Count block_of(const ImportOptions& options, Count own, const std::string& path);

}  // namespace kvreplay::workloads::importers
