#include "policies/kv_storage.hpp"

#include "policies/bf16.hpp"

#include <cassert>
#include <cstring>
#include <limits>

namespace kvreplay::policies {

KvStorage::KvStorage(const PolicySetup& setup, bool unused_is_read)
    : geometry_(setup.geometry),
      buffers_(setup.buffers),
      poisons_(setup.buffers && setup.poison_unused),
      unused_is_read_(unused_is_read),
      ledger_(setup.geometry, setup.memory_limit_bytes),
      meter_(setup.pages) {}

std::size_t KvStorage::row_elements_bytes() const {
  return static_cast<std::size_t>(geometry_.head_dim * element_bytes(geometry_.element_type));
}

KvStorage::Copied KvStorage::settle_rows(NewStorage& plan) const {
  Copied copied;
  copied.end = plan.kept;
  for (const LayerKind kind : layer_kinds) {
    SlotMap& map = plan.maps[kind];
    const Count lowest_slot = map.ring ? std::max<Count>(0, plan.kept - map.slots) : map.origin;
    copied.from[kind] = plan.kept > 0 ? std::max(maps_[kind].valid_from, lowest_slot) : 0;
    map.valid_from = copied.from[kind];
  }
  return copied;
}

void KvStorage::replace(NewStorage& plan) {
  const Copied copied = settle_rows(plan);
  ledger_.check_limit(plan.maps.slots(), plan.how);
  if (buffers_) replace_tensors(plan, copied);
  ledger_.take(plan.maps.slots(), plan.how);
  if (plan.zeroed) ledger_.count_zeroed(plan.maps.slots());
  ledger_.count_copied(copied.rows());
  maps_ = plan.maps;
  readable_ = plan.zeroed;
  count_live(plan.kept);
}

void KvStorage::replace_tensors(const NewStorage& plan, const Copied& copied) {
  if (plan.how == Replacement::free_first) tensors_.clear();
  std::vector<Tensor> fresh(static_cast<std::size_t>(2 * geometry_.num_layers()));
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    const LayerKind kind = kind_of(static_cast<Count>(i / 2));
    const SlotMap& map = plan.maps[kind];
    fresh[i] = Tensor(map.slots * geometry_.row_bytes() / 2, meter_);
    prepare(fresh[i], plan.zeroed);
    if (tensors_.empty()) continue;
    copy_rows(tensors_[i], fresh[i], maps_[kind], map, copied.from[kind], copied.end);
    if (plan.how == Replacement::tensor_by_tensor) tensors_[i] = Tensor();
  }
  if (plan.how == Replacement::hold_old) held_old_ = std::move(tensors_);
  tensors_ = std::move(fresh);
}

void KvStorage::prepare(const Tensor& tensor, bool zeroed) const {
  if (zeroed) std::memset(tensor.data(), 0, static_cast<std::size_t>(tensor.bytes()));
  // All ones is a NaN in both element types.
  if (poisons_ && !(zeroed && unused_is_read_))
    std::memset(tensor.data(), 0xFF, static_cast<std::size_t>(tensor.bytes()));
}

void KvStorage::copy_rows(const Tensor& source, const Tensor& target, const SlotMap& from, const SlotMap& to,
                          Count begin, Count end) const {
  const std::size_t row = row_elements_bytes();
  for (Count head = 0; head < geometry_.num_kv_heads; ++head) {
    for (Count position = begin, count = 0; position < end; position += count) {
      count = std::min({end - position, from.contiguous(position), to.contiguous(position)});
      std::memcpy(target.data() + static_cast<std::size_t>(head * to.slots + to.slot_of(position)) * row,
                  source.data() + static_cast<std::size_t>(head * from.slots + from.slot_of(position)) * row,
                  static_cast<std::size_t>(count) * row);
    }
  }
}

void KvStorage::zero() {
  for (const Tensor& tensor : tensors_) prepare(tensor, true);
  for (const LayerKind kind : layer_kinds) {
    maps_[kind].valid_from = 0;
    assert(maps_[kind].origin == 0);
  }
  readable_ = true;
  ledger_.count_zeroed(maps_.slots());
  count_live(0);
}

void KvStorage::crop(Count length, Count held) {
  for (const LayerKind kind : layer_kinds) {
    SlotMap& map = maps_[kind];
    if (!unused_is_read_) poison(kind, std::max(length, map.valid_from), held);
    map.valid_from = length == 0 ? 0 : std::min(map.valid_from, length);
  }
  count_live(length);
}

void KvStorage::trim_sliding(Count rows, Count held) {
  SlotMap& map = maps_[LayerKind::sliding];
  const Count from = std::max(map.valid_from, held - rows);
  if (!unused_is_read_) poison(LayerKind::sliding, map.valid_from, from);
  map.valid_from = from;
  count_live(held);
}

void KvStorage::poison(LayerKind kind, Count begin, Count end) const {
  if (!poisons_) return;
  const SlotMap& map = maps_[kind];
  const std::size_t row = row_elements_bytes();
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (kind_of(static_cast<Count>(i / 2)) != kind) continue;
    for (Count head = 0; head < geometry_.num_kv_heads; ++head) {
      for (Count position = begin; position < end; ++position) {
        std::memset(tensors_[i].data() + static_cast<std::size_t>(head * map.slots + map.slot_of(position)) * row, 0xFF,
                    row);
      }
    }
  }
}

void KvStorage::write(Count layer, const FreshRows& fresh) {
  assert(buffers_);
  const SlotMap& map = maps_[kind_of(layer)];
  const Count end = fresh.first_position + fresh.count;
  const Count begin = map.ring ? std::max(fresh.first_position, end - map.slots) : fresh.first_position;
  write_rows(keys(layer), fresh.keys, map, fresh.first_position, begin, end);
  write_rows(values(layer), fresh.values, map, fresh.first_position, begin, end);
}

void KvStorage::write_rows(std::byte* tensor, const float* rows, const SlotMap& map, Count first_position, Count begin,
                           Count end) const {
  const std::size_t width = static_cast<std::size_t>(geometry_.head_dim);
  const std::size_t row_bytes = row_elements_bytes();
  for (Count position = begin; position < end; ++position) {
    for (Count head = 0; head < geometry_.num_kv_heads; ++head) {
      const float* source =
          rows + static_cast<std::size_t>((position - first_position) * geometry_.num_kv_heads + head) * width;
      std::byte* target = tensor + static_cast<std::size_t>(head * map.slots + map.slot_of(position)) * row_bytes;
      if (geometry_.element_type == ElementType::fp32) {
        std::memcpy(target, source, row_bytes);
      } else {
        std::transform(source, source + width, reinterpret_cast<Bf16*>(target), to_bf16);
      }
    }
  }
}

KvRun KvStorage::run(Count layer, Count slot, Count count, Count first_position) const {
  assert(buffers_);
  const SlotMap& map = maps_[kind_of(layer)];
  const std::size_t offset = static_cast<std::size_t>(slot) * row_elements_bytes();
  return {first_position,        count,
          keys(layer) + offset,  values(layer) + offset,
          geometry_.head_dim,    map.slots * geometry_.head_dim,
          geometry_.element_type};
}

}  // namespace kvreplay::policies
