#include "workloads/token_ids.hpp"
#include "tests/catch.hpp"
#include "workloads/ledger.hpp"

#include <algorithm>
#include <random>

using namespace kvreplay::workloads;

namespace {

Slice slice(std::uint32_t stream, std::uint64_t index, std::uint64_t begin, Count count) {
  Slice s;
  s.stream = stream;
  s.first_index = index;
  s.begin = begin;
  s.count = count;
  return s;
}

// `count` blocks of `per_index` ids from `offset` on, beginning with block `first`.
Slice blocks(std::uint32_t stream, std::uint64_t first, std::uint64_t per_index, std::uint64_t offset, Count count) {
  Slice s;
  s.stream = stream;
  s.first_index = first;
  s.ids_per_index = per_index;
  s.offset = offset;
  s.count = count * static_cast<Count>(per_index);
  return s;
}

// Streams: 0 literal, 1 generated (seed 46), 2 generated (seed 46 under another name), 3 generated (seed 47).
Workload streams() {
  Workload workload;
  workload.vocab = 256000;
  workload.streams.resize(4);
  workload.streams[0].ids = {7, 8, 9, 7, 8, 9, 7, 8};
  for (std::size_t i = 1; i < 4; ++i) {
    workload.streams[i].generated = true;
    workload.streams[i].indexed = true;
    workload.streams[i].seed = i < 3 ? 46 : 47;
  }
  return workload;
}

std::vector<TokenId> ids_of(const StreamIds& ids, const Slice& s) {
  std::vector<TokenId> out(static_cast<std::size_t>(s.count));
  ids.fill(s, 0, out);
  return out;
}

std::vector<TokenId> ids_of(const StreamIds& ids, const Ledger& ledger) {
  std::vector<TokenId> out(static_cast<std::size_t>(ledger.length()));
  if (!out.empty()) ledger.fill(ids, 0, out);
  return out;
}

}  // namespace

TEST_CASE("generated ids are those of the format's test vectors") {
  const std::vector<TokenId> first{104829, 77964, 33857, 247061};
  const std::vector<TokenId> second{168258, 174379, 109180, 239480};
  const Workload workload = streams();
  const StreamIds ids(workload);
  for (std::uint64_t position = 0; position < 4; ++position) {
    CHECK(generated_id(46, 46, position, 256000) == first[position]);
    CHECK(generated_id(47, 0, position, 256000) == second[position]);
  }
  CHECK(ids_of(ids, slice(1, 46, 0, 4)) == first);
  CHECK(ids_of(ids, slice(3, 0, 0, 4)) == second);
}

TEST_CASE("ids of slices are the formula's for every vocabulary, the smallest and powers of two among them") {
  for (const Count vocab :
       {Count{257}, Count{258}, Count{512}, Count{2048}, Count{65792}, Count{256000}, Count{2147483647}}) {
    Workload workload = streams();
    workload.vocab = vocab;
    const StreamIds ids(workload);
    const std::vector<TokenId> filled = ids_of(ids, slice(1, 5, 100, 2000));
    for (std::uint64_t i = 0; i < filled.size(); ++i) REQUIRE(filled[i] == generated_id(46, 5, 100 + i, vocab));
  }
}

TEST_CASE("a range of indexes takes the same positions of each index") {
  const Workload workload = streams();
  const StreamIds ids(workload);
  const Slice s = blocks(1, 46, 3, 2, 2);  // NAME.46-47:3@2
  const std::vector<TokenId> expected{generated_id(46, 46, 2, 256000), generated_id(46, 46, 3, 256000),
                                      generated_id(46, 46, 4, 256000), generated_id(46, 47, 2, 256000),
                                      generated_id(46, 47, 3, 256000), generated_id(46, 47, 4, 256000)};
  CHECK(ids_of(ids, s) == expected);
  CHECK(ids.id_at(s, 4) == expected[4]);
  CHECK(ids_of(ids, tail_of(s, 2)) == std::vector<TokenId>(expected.begin() + 2, expected.end()));
  CHECK(ids_of(ids, head_of(s, 4)) == std::vector<TokenId>(expected.begin(), expected.begin() + 4));
}

TEST_CASE("slices that continue each other become one") {
  Ledger ledger;
  ledger.append(slice(1, 4, 0, 4));
  ledger.append(slice(1, 4, 4, 20));
  CHECK(ledger.slices().size() == 1);
  ledger.append(slice(1, 4, 25, 1));
  ledger.append(slice(1, 5, 26, 1));
  CHECK(ledger.slices().size() == 3);
  CHECK(ledger.length() == 26);
}

TEST_CASE("common prefixes of random slices are those of their ids") {
  const Workload workload = streams();
  const StreamIds ids(workload);
  std::mt19937 random(7);
  const auto up_to = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 2000; ++round) {
    std::array<Ledger, 2> lists;
    for (Ledger& list : lists) {
      for (int i = up_to(6); i >= 0; --i) {
        const auto stream = static_cast<std::uint32_t>(up_to(4));
        if (stream == 0) {
          const int begin = up_to(8);
          list.append(slice(0, 0, static_cast<std::uint64_t>(begin), 1 + up_to(8 - begin)));
        } else if (up_to(2) == 0) {
          list.append(
              slice(stream, static_cast<std::uint64_t>(up_to(2)), static_cast<std::uint64_t>(up_to(3)), 1 + up_to(5)));
        } else {
          list.append(blocks(stream, static_cast<std::uint64_t>(up_to(2)), 1 + static_cast<std::uint64_t>(up_to(3)),
                             static_cast<std::uint64_t>(up_to(2)), 1 + up_to(3)));
        }
      }
    }
    // A common beginning, so that prefixes are not all 0.
    if (up_to(2) == 0) {
      Ledger joined = lists[0];
      joined.truncate(static_cast<Count>(up_to(static_cast<int>(joined.length()) + 1)));
      for (const Slice& s : lists[1].slices()) joined.append(s);
      lists[1] = joined;
    }
    const std::vector<TokenId> a = ids_of(ids, lists[0]);
    const std::vector<TokenId> b = ids_of(ids, lists[1]);
    const auto shorter = static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
    const Count expected = std::mismatch(a.begin(), a.begin() + shorter, b.begin()).first - a.begin();
    REQUIRE(ids.common_prefix(lists[0].run_from(0), lists[1].run_from(0), lists[0].length()) == expected);
    const Count limit = expected / 2;
    REQUIRE(ids.common_prefix(lists[0].run_from(0), lists[1].run_from(0), limit) == limit);
    const Count cut = static_cast<Count>(up_to(static_cast<int>(a.size()) + 1));
    const Ledger rest = lists[0].split_off(cut);
    REQUIRE(ids_of(ids, lists[0]) == std::vector<TokenId>(a.begin(), a.begin() + cut));
    REQUIRE(ids_of(ids, rest) == std::vector<TokenId>(a.begin() + cut, a.end()));
  }
}
