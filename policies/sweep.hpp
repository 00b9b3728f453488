// Lists and ranges in a policy specification: one text that stands for several policies.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kvreplay::policies {

// Most policies one text may stand for.
inline constexpr std::size_t largest_sweep = 1'000;

// The specifications a text stands for, the last option varying fastest; the text itself where nothing in it is a list.
//   fixed:capacity=512,1024       a value after a comma that is no key=value is one more value of the key before
//   fixed:capacity=512-4096*2     512, 1024, 2048, 4096: from - to * factor
//   fixed:capacity=512-2048+512   512, 1024, 1536, 2048: from - to + step
// A range ends with the last number that is not above its end, as in llama-bench. Names, keys and values are not
// checked here (parse_policy does). Throws OptionError for ranges that do not grow and for sweeps over largest_sweep.
std::vector<std::string> sweep(std::string_view text);

}  // namespace kvreplay::policies
