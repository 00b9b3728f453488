// K/V rows of all layers in contiguous slots: the memory ledger, and with buffers the real tensors.
//
// K and V are separate tensors of a layer, head-major as in Hugging Face: [kv_head][slot][head_dim]. Both kinds of
// layer change together; every change is counted in the ledger whether or not there are buffers.
#pragma once

#include "policies/registry.hpp"
#include "policies/slot_map.hpp"
#include "policies/tensor.hpp"

#include <vector>

namespace kvreplay::policies {

// New storage and what becomes of the old rows.
struct NewStorage {
  SlotMaps maps;   // valid_from is set by replace()
  Count kept = 0;  // rows of positions below are copied, as far as both storages have a slot for them
  bool zeroed = false;
  Replacement how = Replacement::hold_old;
};

class KvStorage {
 public:
  // `unused_is_read`: attention reads slots without a token, so they are never poisoned.
  KvStorage(const PolicySetup& setup, bool unused_is_read);

  bool empty() const { return maps_.slots().total() == 0; }
  const CacheGeometry& geometry() const { return geometry_; }
  const SlotMap& map(LayerKind kind) const { return maps_[kind]; }
  LayerKind kind_of(Count layer) const {
    return geometry_.slides[static_cast<std::size_t>(layer)] ? LayerKind::sliding : LayerKind::global;
  }
  // Every slot is zero or holds rows that were written: an engine may attend all of them.
  bool readable() const { return readable_; }
  const MemoryLedger& ledger() const { return ledger_; }
  BufferBytes buffer_bytes() const { return meter_.bytes(); }

  // Takes new storage; the old one is released as NewStorage::how says. Throws MemoryLimitExceeded or std::bad_alloc
  // before anything is counted (under `hold_old` also before anything changed).
  void replace(NewStorage& plan);

  // Zeroes all slots in place; no row is valid afterwards.
  void zero();

  // Rows at positions from `length` on are void; `held` rows were there.
  void crop(Count length, Count held);

  // All rows below `held` are written now.
  void fill(Count held) {
    bool all_written = true;
    for (const LayerKind kind : layer_kinds) {
      SlotMap& map = maps_[kind];
      map.valid_from = map.lowest(held);
      all_written = all_written && held - map.origin >= map.slots;
    }
    readable_ = readable_ || all_written;
    count_live(held);
  }

  // For engines that keep other rows than fill() assumes, or move rows at every append.
  void set_live(PerKind rows) { ledger_.set_live(rows); }
  void count_moved(PerKind copied, PerKind zeroed) {
    ledger_.count_copied(copied);
    ledger_.count_zeroed(zeroed);
  }

  // Sliding layers keep only the last `rows` of `held` rows, as a view: the storage stays.
  void trim_sliding(Count rows, Count held);

  // Releases held storage and closes the ledger's evaluation.
  void end_evaluation() {
    held_old_.clear();
    ledger_.end_evaluation();
  }

  // Stores the piece's rows; of a ring's piece only the last `slots` ones. Needs buffers.
  void write(Count layer, const FreshRows& fresh);

  // `count` consecutive slots from `slot` on, as holding positions from `first_position` on. Needs buffers.
  KvRun run(Count layer, Count slot, Count count, Count first_position) const;

  // First element of the layer's tensors, [kv_head][slot][head_dim]. Needs buffers.
  std::byte* keys(Count layer) const { return tensors_[static_cast<std::size_t>(2 * layer)].data(); }
  std::byte* values(Count layer) const { return tensors_[static_cast<std::size_t>(2 * layer + 1)].data(); }

 private:
  // Rows of a tensor's head that are copied from the old storage: positions [from, end).
  struct Copied {
    PerKind from;
    Count end = 0;
    PerKind rows() const { return {std::max<Count>(0, end - from.global), std::max<Count>(0, end - from.sliding)}; }
  };

  Copied settle_rows(NewStorage& plan) const;
  void replace_tensors(const NewStorage& plan, const Copied& copied);
  void copy_rows(const Tensor& source, const Tensor& target, const SlotMap& from, const SlotMap& to, Count begin,
                 Count end) const;
  void write_rows(std::byte* tensor, const float* rows, const SlotMap& map, Count first_position, Count begin,
                  Count end) const;
  void prepare(const Tensor& tensor, bool zeroed) const;
  void poison(LayerKind kind, Count begin, Count end) const;
  void count_live(Count held) {
    ledger_.set_live({held - maps_[LayerKind::global].valid_from, held - maps_[LayerKind::sliding].valid_from});
  }
  std::size_t row_elements_bytes() const;  // of one head

  CacheGeometry geometry_;
  bool buffers_;
  bool poisons_;
  bool unused_is_read_;
  bool readable_ = false;
  SlotMaps maps_;
  MemoryLedger ledger_;
  AllocationMeter meter_;
  std::vector<Tensor> tensors_;   // K and V of layer 0, of layer 1, ...
  std::vector<Tensor> held_old_;  // replaced, not yet released
};

}  // namespace kvreplay::policies
