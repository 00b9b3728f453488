#include "workloads/importers/block_prompt.hpp"

#include "workloads/importers/lengths.hpp"

#include <algorithm>

namespace kvreplay::workloads::importers {

void add_block_streams(WorkloadDraft& draft) {
  draft.add_stream("b", 46, true);
  draft.add_stream("tail", 48, true);
}

BlockPrompt read_block_prompt(const JsonRow& row, const char* length_key, Count block) {
  constexpr Count max_hash = Count{1} << 61;
  BlockPrompt prompt{row.wholes("hash_ids", max_hash), row.whole(length_key, 1, max_length), 0};
  const Count hashes = static_cast<Count>(prompt.hashes.size());
  const Count whole = prompt.length / block;
  const Count begun = (prompt.length + block - 1) / block;
  if (hashes != whole && hashes != begun) {
    throw row.fault("hash_ids", std::to_string(hashes) + " hashes, but " + length_key + " " +
                                    std::to_string(prompt.length) + " makes " + std::to_string(begun) + " blocks of " +
                                    std::to_string(block) + " tokens (--block N sets their size)");
  }
  prompt.hashed_length = std::min(prompt.length, hashes * block);
  return prompt;
}

Tokens prompt_tokens(const BlockPrompt& prompt, Count block, Count scale, std::uint64_t row_index, Count from) {
  const Count size = block / scale;
  const Count length = (prompt.length + scale - 1) / scale;
  const Count hashed = (prompt.hashed_length + scale - 1) / scale;
  Tokens tokens;
  Count at = from;
  while (at < hashed) {
    const std::size_t first = static_cast<std::size_t>(at / size);
    const Count hash = prompt.hashes[first];
    if (hashed - at < size) {
      tokens.add(slice("b", static_cast<std::uint64_t>(hash), hashed - at).text, hashed - at);
      at = hashed;
      continue;
    }
    Count run = 1;
    const Count most = (hashed - at) / size;
    while (run < most && prompt.hashes[first + static_cast<std::size_t>(run)] == hash + run) ++run;
    std::string item = "b." + std::to_string(hash);
    if (run > 1) item += "-" + std::to_string(hash + run - 1);
    tokens.add(item + ":" + std::to_string(size), run * size);
    at += run * size;
  }
  if (length > at) tokens.add(slice("tail", row_index, length - at).text, length - at);
  return tokens;
}

Count block_of(const ImportOptions& options, Count own, const std::string& path) {
  const Count block = options.block.value_or(own);
  if (block % options.scale == 0) return block;
  throw InputError(path, {}, "",
                   "--scale " + std::to_string(options.scale) + " does not divide blocks of " + std::to_string(block) +
                       " tokens; take a divisor");
}

}  // namespace kvreplay::workloads::importers
