// Random token items with the ids they stand for.
#pragma once

#include "tests/workloads/random_workload.hpp"

#include <random>
#include <string>
#include <utility>

namespace kvreplay::workloads::tests {

// The streams random_items() draws from: p is this one, g is generated from seed 46, x indexed from seed 47.
inline const Ids literal_stream{0, 1, 0, 1, 2, 0, 1, 0, 1, 2, 2, 1, 0, 0, 1, 2};
inline constexpr Count vocab = 258;  // generated ids are 256 and 257

// From 0 to n - 1, the same with every standard library.
inline int below(std::mt19937& random, int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }

// One to three items.
std::pair<std::string, Ids> random_items(std::mt19937& random);

}  // namespace kvreplay::workloads::tests
