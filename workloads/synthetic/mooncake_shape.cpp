#include "workloads/synthetic/mooncake_shape.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <utility>

namespace kvreplay::workloads {
namespace {

constexpr Count block_tokens = 512;
constexpr double share_of_continuations = 0.387;
constexpr Count longest_input = 126195;
enum StreamNumber : std::uint32_t { blocks, outputs };

// A distribution by its quantiles.
constexpr std::size_t num_quantiles = 12;
constexpr std::array<double, num_quantiles> levels{0, .01, .05, .1, .25, .5, .75, .9, .95, .99, .999, 1};
using Quantiles = std::array<double, num_quantiles>;
constexpr Quantiles new_input{891, 894, 897, 905, 1336, 5264, 13056, 25561, 38538, 89869, 121471, 126195};
constexpr Quantiles added_input{1, 16, 163, 304, 534, 829, 3503, 9741, 14768, 26773, 65216, 94968};
constexpr Quantiles output{1, 3, 10, 24, 156, 350, 472, 597, 698, 1120, 2000, 2000};
constexpr Quantiles requests_between{5, 44, 99, 141, 229, 423, 901, 1662, 2131, 5110, 8907, 10514};

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}

  // [0, 1), from the engine's bits alone: the standard's distributions differ between libraries.
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

  Count from(const Quantiles& quantiles) {
    const double level = uniform();
    std::size_t i = 1;
    while (levels[i] <= level) ++i;
    const double part = (level - levels[i - 1]) / (levels[i] - levels[i - 1]);
    return static_cast<Count>(quantiles[i - 1] + part * (quantiles[i] - quantiles[i - 1]));
  }

 private:
  std::mt19937_64 engine_;
};

// A request's input: runs of consecutive blocks, the last block of which may be cut short.
struct Input {
  std::vector<std::pair<std::uint64_t, Count>> runs;  // first block, number of blocks
  Count length = 0;
};

void add_blocks(Input& input, std::uint64_t first, Count count) {
  if (count == 0) return;
  auto& runs = input.runs;
  if (!runs.empty() && runs.back().first + static_cast<std::uint64_t>(runs.back().second) == first) {
    runs.back().second += count;
  } else {
    runs.emplace_back(first, count);
  }
}

// The first `count` blocks of an earlier input.
Input whole_blocks_of(const Input& earlier, Count count) {
  Input input;
  for (const auto& [first, length] : earlier.runs) {
    const Count taken = std::min(length, count);
    add_blocks(input, first, taken);
    count -= taken;
  }
  return input;
}

void grow_to(Input& input, Count length, std::uint64_t& next_block) {
  Count have = 0;
  for (const auto& run : input.runs) have += run.second;
  const Count wanted = (length + block_tokens - 1) / block_tokens;
  if (wanted > have) {
    add_blocks(input, next_block, wanted - have);
    next_block += static_cast<std::uint64_t>(wanted - have);
  }
  input.length = length;
}

Slice slice_of(std::uint32_t stream, std::uint64_t index, Count count) {
  Slice slice;
  slice.stream = stream;
  slice.first_index = index;
  slice.count = count;
  return slice;
}

TokenSpans spans_of(const Input& input) {
  TokenSpans spans;
  Count left = input.length;
  for (const auto& [first, num_blocks] : input.runs) {
    const Count whole = std::min(num_blocks, left / block_tokens);
    if (whole > 0) {
      Slice slice = slice_of(blocks, first, whole * block_tokens);
      if (whole > 1) slice.ids_per_index = block_tokens;
      spans.push_back(slice);
      left -= whole * block_tokens;
    }
    if (whole < num_blocks && left > 0) {
      spans.push_back(slice_of(blocks, first + static_cast<std::uint64_t>(whole), left));
      left = 0;
    }
  }
  return spans;
}

Workload empty_workload(const MooncakeShape& shape) {
  Workload workload;
  workload.path = "mooncake-shape-" + std::to_string(shape.num_requests) + "-" + std::to_string(shape.seed);
  workload.meta.id = workload.path;
  workload.meta.title = "Generated requests of the shape of Mooncake's conversation trace";
  workload.meta.content = "structure";
  workload.meta.licence = "CC0-1.0";
  workload.tokenizer_name = "synthetic";
  workload.vocab = 256000;
  workload.model.profile = Given<std::string>{"gemma2-2b", {}};
  for (const auto& [name, seed] : {std::pair{"b", std::uint64_t{46}}, std::pair{"out", std::uint64_t{47}}}) {
    Stream stream;
    stream.name = name;
    stream.generated = true;
    stream.seed = seed;
    stream.indexed = true;
    workload.streams.push_back(std::move(stream));
  }
  return workload;
}

}  // namespace

Workload mooncake_shape(const MooncakeShape& shape) {
  Workload workload = empty_workload(shape);
  Draw draw(shape.seed);
  std::vector<Input> inputs;
  std::uint64_t next_block = 1;  // block 0 is the system prompt all requests share
  for (Count request = 0; request < shape.num_requests; ++request) {
    const bool continues = draw.uniform() < share_of_continuations;
    const Count back = draw.from(requests_between);
    const Count fresh = draw.from(continues ? added_input : new_input);
    Input input;
    Count length = fresh;
    const Input* const earlier =
        continues && back <= request ? &inputs[static_cast<std::size_t>(request - back)] : nullptr;
    const Count kept_blocks = earlier ? earlier->length / block_tokens : 1;
    if (earlier && kept_blocks * block_tokens + fresh <= longest_input) {
      input = whole_blocks_of(*earlier, kept_blocks);
      length = kept_blocks * block_tokens + fresh;
    } else {
      add_blocks(input, 0, 1);
      length = std::max(length, block_tokens + 1);
    }
    grow_to(input, length, next_block);

    const SequenceId sequence = static_cast<SequenceId>(request);
    const Count sampled = draw.from(output);
    workload.sequence_names.push_back("r" + std::to_string(request));
    workload.events.push_back({NewSequence{sequence, std::nullopt}, {}});
    workload.events.push_back({Append{spans_of(input)}, {}});
    workload.events.push_back({Decode{sampled, {slice_of(outputs, static_cast<std::uint64_t>(request), sampled)}}, {}});
    workload.events.push_back({End{sequence}, {}});
    inputs.push_back(std::move(input));
  }
  return workload;
}

}  // namespace kvreplay::workloads
