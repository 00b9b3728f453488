#include "workloads/token_ids.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace kvreplay::workloads {
namespace {

constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  std::uint64_t z = x;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

// What does not change along one index of a generated stream.
std::uint64_t index_state(std::uint64_t seed, std::uint64_t index) { return mix(mix(seed) ^ index); }

constexpr std::uint64_t first_id = 256;

__extension__ using Wide = unsigned __int128;

// Where an id of a slice lies in its stream.
struct Place {
  std::uint64_t index;
  std::uint64_t position;
  std::uint64_t left;  // ids of this index from here on
};

Place place_of(const Slice& slice, Count offset) {
  const std::uint64_t number = slice.begin + static_cast<std::uint64_t>(offset);
  if (slice.ids_per_index == Slice::one_index) return {slice.first_index, number, Slice::one_index - number};
  const std::uint64_t index = number / slice.ids_per_index;
  const std::uint64_t within = number % slice.ids_per_index;
  return {slice.first_index + index, slice.offset + within, slice.ids_per_index - within};
}

}  // namespace

TokenId generated_id(std::uint64_t seed, std::uint64_t index, std::uint64_t position, Count vocab) {
  return static_cast<TokenId>(first_id + mix(index_state(seed, index) ^ position) %
                                             (static_cast<std::uint64_t>(vocab) - first_id));
}

StreamIds::StreamIds(const Workload& workload)
    : streams_(workload.streams),
      num_generated_(static_cast<std::uint64_t>(std::max<Count>(workload.vocab, first_id + 1)) - first_id),
      reciprocal_(std::numeric_limits<std::uint64_t>::max() / num_generated_) {}

// The remainder by multiplication: the quotient is at most one too small, and a division takes four times as long.
TokenId StreamIds::generated(std::uint64_t state, std::uint64_t position) const {
  const std::uint64_t z = mix(state ^ position);
  const std::uint64_t quotient = static_cast<std::uint64_t>((Wide{z} * reciprocal_) >> 64);
  const std::uint64_t remainder = z - quotient * num_generated_;
  return static_cast<TokenId>(first_id + (remainder >= num_generated_ ? remainder - num_generated_ : remainder));
}

TokenId StreamIds::id_at(const Slice& slice, Count offset) const {
  const Stream& stream = streams_[slice.stream];
  const Place place = place_of(slice, offset);
  if (!stream.generated) return stream.ids[place.position];
  return generated(index_state(stream.seed, place.index), place.position);
}

void StreamIds::fill(const Slice& slice, Count offset, std::span<TokenId> out) const {
  const Stream& stream = streams_[slice.stream];
  std::size_t done = 0;
  while (done < out.size()) {
    const Place place = place_of(slice, offset + static_cast<Count>(done));
    const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(place.left, out.size() - done));
    TokenId* const to = out.data() + done;
    if (stream.generated) {
      const std::uint64_t state = index_state(stream.seed, place.index);
      for (std::size_t i = 0; i < count; ++i) to[i] = generated(state, place.position + i);
    } else {
      std::copy_n(stream.ids.begin() + static_cast<std::ptrdiff_t>(place.position), count, to);
    }
    done += count;
  }
}

// How many ids from here on are equal because both slices are at the same place of the same stream.
Count StreamIds::same_place(const Slice& a, Count a_offset, const Slice& b, Count b_offset, Count limit) const {
  const Stream& stream_a = streams_[a.stream];
  const Stream& stream_b = streams_[b.stream];
  const bool same_stream =
      a.stream == b.stream || (stream_a.generated && stream_b.generated && stream_a.seed == stream_b.seed);
  if (!same_stream) return 0;
  const Place place_a = place_of(a, a_offset);
  const Place place_b = place_of(b, b_offset);
  if (place_a.index != place_b.index || place_a.position != place_b.position) return 0;
  if (a.ids_per_index == b.ids_per_index && a.offset == b.offset) return limit;
  return static_cast<Count>(std::min({static_cast<std::uint64_t>(limit), place_a.left, place_b.left}));
}

Count StreamIds::common_prefix_of_slices(const Slice& a, Count a_offset, const Slice& b, Count b_offset,
                                         Count limit) const {
  Count equal = same_place(a, a_offset, b, b_offset, limit);
  Count chunk = 1;
  std::array<TokenId, 1024> ids_a, ids_b;
  while (equal < limit) {
    // Different places rarely agree beyond the first ids, so the pieces looked at start small.
    const std::size_t count = static_cast<std::size_t>(std::min(chunk, limit - equal));
    fill(a, a_offset + equal, {ids_a.data(), count});
    fill(b, b_offset + equal, {ids_b.data(), count});
    const auto differing =
        std::mismatch(ids_a.begin(), ids_a.begin() + static_cast<std::ptrdiff_t>(count), ids_b.begin());
    const Count agreed = differing.first - ids_a.begin();
    equal += agreed;
    if (agreed < static_cast<Count>(count)) return equal;
    if (equal < limit) equal += same_place(a, a_offset + equal, b, b_offset + equal, limit - equal);
    chunk = std::min<Count>(2 * chunk, 1024);
  }
  return equal;
}

Count StreamIds::common_prefix(SliceRun a, SliceRun b, Count limit) const {
  Count equal = 0;
  while (equal < limit && a.num_slices > 0 && b.num_slices > 0) {
    const Count left_a = a.first->count - a.skip;
    const Count left_b = b.first->count - b.skip;
    const Count wanted = std::min({left_a, left_b, limit - equal});
    const Count agreed = common_prefix_of_slices(*a.first, a.skip, *b.first, b.skip, wanted);
    equal += agreed;
    if (agreed < wanted) return equal;
    for (SliceRun* run : {&a, &b}) {
      run->skip += wanted;
      if (run->skip < run->first->count) continue;
      run->skip = 0;
      if (--run->num_slices > 0) run->first += run->step;
    }
  }
  return equal;
}

Slice head_of(const Slice& slice, Count count) {
  Slice head = slice;
  head.count = count;
  return head;
}

Slice tail_of(const Slice& slice, Count count) {
  Slice tail = slice;
  tail.begin += static_cast<std::uint64_t>(count);
  tail.count -= count;
  return tail;
}

bool continues(const Slice& slice, const Slice& next) {
  return slice.stream == next.stream && slice.begin + static_cast<std::uint64_t>(slice.count) == next.begin &&
         slice.first_index == next.first_index && slice.ids_per_index == next.ids_per_index &&
         slice.offset == next.offset;
}

}  // namespace kvreplay::workloads
