// Fills in the `expect` block of a workload file.
#pragma once

#include "workloads/reader.hpp"

#include <string>
#include <string_view>

namespace kvreplay::workloads {

// The text of a workload file with all policy-free numbers and bounds in `expect`: wrong values are replaced in place,
// missing keys put first, a missing block is put last. Every other byte stays: comments, line ends, check, observed and
// x- keys. ledger_crc32 is brought up to date where it is given, never added. Text in, text out: the caller writes.
// The text given may state wrong numbers; every other fault throws InputError, as does a file whose `expect` is laid
// out so that it cannot be edited safely (numbers as block scalars, the whole file in flow style).
std::string text_with_expect(std::string_view text, const std::string& path, const ModelVocab& model_vocab = {});

}  // namespace kvreplay::workloads
