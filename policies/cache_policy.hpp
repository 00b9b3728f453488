// The seam between the decoder stack and a KV cache.
//
// A CachePolicy owns the K/V rows of all layers of one engine. Per evaluation the replay calls
//
//     admit(request)                                 decides what survives; the only method that decides reuse
//     for each piece, for each layer:  rows(layer, fresh)   everything attention may read
//                                      store(layer, fresh)  after that layer's attention
//     finish()                                       releases held storage, trims
//
// `admit`, `finish`, `truncate` and `release` touch the memory ledger; `rows` and `store` only move bytes,
// so a replay without buffers (PolicySetup::buffers == false) skips them and counts the same numbers.
//
// Logical length, physical rows and next position are three different numbers; a *position* is a place in the
// text, a *slot* a place in memory. One thread drives a policy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kvreplay::policies {

using TokenId = std::uint32_t;
using SequenceId = std::uint32_t;
using Count = std::int64_t;

enum class ElementType : std::uint8_t { fp32, bf16 };

constexpr Count element_bytes(ElementType type) { return type == ElementType::fp32 ? 4 : 2; }

// Shape of the cache. `slides[layer]` says whether a layer is a sliding one; it is never inferred from a capacity.
struct CacheGeometry {
  Count num_kv_heads = 1;
  Count head_dim = 1;
  ElementType element_type = ElementType::fp32;
  Count sliding_window = 1;  // keys a query of a sliding layer sees, itself included; >= 1
  Count max_positions = 1;
  std::vector<bool> slides;  // one entry per layer

  Count num_layers() const { return static_cast<Count>(slides.size()); }
  Count num_sliding_layers() const;
  Count num_global_layers() const { return num_layers() - num_sliding_layers(); }
  // Bytes of K and V of one token in one layer.
  Count row_bytes() const { return 2 * num_kv_heads * head_dim * element_bytes(element_type); }
};

// What one evaluation asks for.
struct Request {
  SequenceId sequence = 0;
  std::span<const TokenId> tokens;    // the complete list, valid during the call
  Count num_logits = 1;               // rows of logits wanted, at the end of the list; >= 1
  Count stored_answer_position = -1;  // position whose row of logits the caller still has; -1: none
  Count unchanged_prefix = 0;         // lower bound of the prefix shared with the list admitted last
};

// The one action an admission takes (docs/semantics.md, "One admission, one action").
enum class Action : std::uint8_t { first, append, cached, crop, reset, discard, grow, refused, exceeded };
std::string_view name_of(Action action);

struct Admission {
  Action action = Action::first;
  Count reused = 0;            // leading tokens that need no evaluation
  Count piece_tokens = 0;      // 0: feed the rest in one pass; else in pieces of this many, each through all layers
  Count common_prefix = 0;     // of the wanted list and what the slot held
  Count held_before = 0;       // tokens the engine believed to hold
  Count held_after = 0;        // the same when the evaluation is done
  Count kept = 0;              // tokens the keep rule asks to be served from the cache
  Count capacity_before = -1;  // rows of a global layer, as the engine would report it; -1: no storage
  Count capacity_after = -1;
  Count crop_to = -1;          // length asked of a crop, -1: none
  bool overflow = false;       // the list was longer than the capacity
  bool window_passed = false;  // a rewind outside what the sliding rows can serve
  bool replaced_storage = false;
  bool exact = true;  // rows attention will read are those of a cold run
  Count limit = -1;   // Action::exceeded: the longest list that would have been taken
  // attend=capacity: slots of the storage attention reads in one layer of each kind; 0: only visible rows.
  Count attended_slots_global = 0;
  Count attended_slots_sliding = 0;

  friend bool operator==(const Admission&, const Admission&) = default;
};

// Consecutive positions in consecutive slots. Head h of the row at index i starts at
// `keys + (i * row_stride + h * head_stride)` elements of `element_type`, head_dim elements long; values likewise.
struct KvRun {
  // Slots that hold no token: an engine that attends its whole buffer reads them, no query sees them.
  static constexpr Count unused_slots = -1;

  Count first_position = 0;
  Count count = 0;
  const void* keys = nullptr;
  const void* values = nullptr;
  std::ptrdiff_t row_stride = 0;
  std::ptrdiff_t head_stride = 0;
  ElementType element_type = ElementType::fp32;

  bool is_unused() const { return first_position == unused_slots; }
};

// Everything attention may read in one layer for one piece. Attention masks by position: a query at p sees keys at
// positions [0, p], in a sliding layer [max(0, p - W + 1), p].
struct KvView {
  std::span<const KvRun> runs;
  // Empty, or num_queries x (sum of run counts), row-major, rows in the order of `runs`: 1 where the query sees the
  // row whatever its position. Only presets of engines that mask otherwise fill it; only the plain kernel reads it.
  std::span<const std::uint8_t> visible;
};

// K and V of a piece in one layer: [count][num_kv_heads][head_dim] floats, K after RoPE, both already rounded to the
// cache's element type.
struct FreshRows {
  Count first_position = 0;
  Count count = 0;
  const float* keys = nullptr;
  const float* values = nullptr;
};

class MemoryLedger;

// What the storage blocks took from the allocator: zero without buffers.
struct BufferBytes {
  Count now = 0;
  Count peak = 0;
};

class CachePolicy {
 public:
  CachePolicy() = default;
  CachePolicy(const CachePolicy&) = delete;
  CachePolicy& operator=(const CachePolicy&) = delete;
  virtual ~CachePolicy() = default;

  // Decides reuse for `request` and makes room for the rest. reused <= tokens.size() - num_logits, or one more if
  // the stored answer is the row of position reused - 1. Action::refused and Action::exceeded change nothing.
  // Throws MemoryLimitExceeded or std::bad_alloc, both before anything is counted; after std::bad_alloc rows may be
  // lost and the policy can only be destroyed.
  virtual Admission admit(const Request& request) = 0;

  // Rows a layer's attention may read while `fresh` is evaluated. The view is valid until the same layer's store().
  virtual KvView rows(Count layer, const FreshRows& fresh) = 0;

  // Follows the layer's attention; may do nothing (policies that write before attention).
  virtual void store(Count layer, const FreshRows& fresh) = 0;

  // Ends the evaluation begun by the last admit(), cached answers included.
  virtual void finish() = 0;

  // The sequence is over; its rows may be given up.
  virtual void release(SequenceId sequence);

  // For engines that crop at once: keep min(length, held) tokens of `sequence`. Policies that cannot crop do nothing
  // and see the rewind at the next admission. Returns true if rows were dropped (a stored answer is then void).
  virtual bool truncate(SequenceId sequence, Count length);

  // `as` starts as a copy of `from`. Default: sharing is found by content.
  virtual void fork(SequenceId from, SequenceId as);

  virtual const MemoryLedger& ledger() const = 0;

  // Bytes of K/V buffers really allocated (PolicySetup::buffers), to be held against the ledger's counts.
  virtual BufferBytes buffer_bytes() const;
};

}  // namespace kvreplay::policies
