#include "tests/workloads/random_items.hpp"

#include "workloads/token_ids.hpp"

namespace kvreplay::workloads::tests {
namespace {

using Tokens = std::pair<std::string, Ids>;

std::string with_offset(int offset) { return offset ? "@" + std::to_string(offset) : ""; }

// Of each index from `first` to `last`.
Tokens generated(std::mt19937& random, const std::string& name, std::uint64_t seed, int first, int last) {
  const int offset = below(random, 3);
  const int count = 1 + below(random, 3);
  Ids ids;
  for (int i = first; i <= last; ++i) {
    for (int k = 0; k < count; ++k) {
      ids.push_back(generated_id(seed, static_cast<std::uint64_t>(i),
                                 static_cast<std::uint64_t>(offset) + static_cast<std::uint64_t>(k), vocab));
    }
  }
  return {name + ":" + std::to_string(count) + with_offset(offset), ids};
}

Tokens random_item(std::mt19937& random) {
  switch (below(random, 5)) {
    case 0: {
      const int offset = below(random, 8);
      const int count = 1 + below(random, 4);
      return {"p:" + std::to_string(count) + with_offset(offset),
              Ids(literal_stream.begin() + offset, literal_stream.begin() + offset + count)};
    }
    case 1:
      return generated(random, "g", 46, 0, 0);
    case 2: {
      const int first = below(random, 3);
      const int last = first + below(random, 3);
      std::string name = "x." + std::to_string(first);
      if (last > first || below(random, 2)) name += "-" + std::to_string(last);
      return generated(random, name, 47, first, last);
    }
    default: {
      const auto id = static_cast<TokenId>(below(random, 3));
      return {std::to_string(id), {id}};
    }
  }
}

}  // namespace

Tokens random_items(std::mt19937& random) {
  auto [text, ids] = random_item(random);
  for (int more = below(random, 3); more > 0; --more) {
    const auto [next_text, next_ids] = random_item(random);
    text += " " + next_text;
    ids.insert(ids.end(), next_ids.begin(), next_ids.end());
  }
  return {text, ids};
}

}  // namespace kvreplay::workloads::tests
