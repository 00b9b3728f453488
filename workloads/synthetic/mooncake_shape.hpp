// A workload of the shape of Mooncake's conversation trace (12,031 requests, Apache-2.0), made without a file.
//
// Read off the trace: every request begins with the same block of 512 tokens; 38.7 % of the requests continue an
// earlier one, sharing all its whole blocks; the rest begin anew behind the first block. Lengths are drawn from the
// trace's own quantiles (mooncake_shape.cpp), linearly between them. Inputs come out at 13,150 tokens on average
// (trace: 12,035), medians at 6,976 (6,909), outputs at 346 (343), shared blocks at 34 to 36 % (37 %). What the trace
// has and this has not: arrival times, a few very common long documents, continuations that keep only a part (6 %).
#pragma once

#include "workloads/workload.hpp"

#include <cstdint>

namespace kvreplay::workloads {

struct MooncakeShape {
  Count num_requests = 12031;
  std::uint64_t seed = 1;
};

// Per request new, append (input), decode (output), end; sequences r0, r1, ... Blocks are indexes of a generated
// stream, so that equal blocks are equal tokens. The longest ledger is below 131,072 tokens. num_requests >= 1.
Workload mooncake_shape(const MooncakeShape& shape);

}  // namespace kvreplay::workloads
