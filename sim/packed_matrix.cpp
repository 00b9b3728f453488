#include "sim/packed_matrix.hpp"

#include "policies/bf16.hpp"

namespace kvreplay::sim {
namespace {

Count panel_elements(Count outputs, Count inputs) {
  return (outputs + panel_columns - 1) / panel_columns * inputs * panel_columns;
}

}  // namespace

PackedMatrix::PackedMatrix(Count outputs, Count inputs, ElementType type)
    : outputs_(outputs),
      inputs_(inputs),
      type_(type),
      pages_(panel_elements(outputs, inputs) * policies::element_bytes(type), policies::PageChoice::huge) {}

// The weight of input 0; the next input's is panel_columns elements further.
template <class Element>
Element* PackedMatrix::element(Count output) const {
  const Count panel = output / panel_columns, column = output % panel_columns;
  // bf16: columns j and 16 + j share a word.
  const Count place = type_ == ElementType::fp32 ? column : column % 16 * 2 + column / 16;
  return reinterpret_cast<Element*>(pages_.data()) + panel * inputs_ * panel_columns + place;
}

void PackedMatrix::store(Count first, Count count, const float* rows) {
  // Blocks of inputs, so that the lines all outputs of a panel share stay in the cache.
  constexpr Count block = 64;
  for (Count begin = 0; begin < inputs_; begin += block) {
    const Count end = std::min(inputs_, begin + block);
    for (Count i = 0; i < count; ++i) {
      const float* const row = rows + i * inputs_;
      if (type_ == ElementType::fp32) {
        float* const to = element<float>(first + i);
        for (Count k = begin; k < end; ++k) to[k * panel_columns] = row[k];
      } else {
        std::uint16_t* const to = element<std::uint16_t>(first + i);
        for (Count k = begin; k < end; ++k) to[k * panel_columns] = policies::to_bf16(row[k]);
      }
    }
  }
}

void PackedMatrix::load(Count output, float* row) const {
  if (type_ == ElementType::fp32) {
    const float* const from = element<float>(output);
    for (Count k = 0; k < inputs_; ++k) row[k] = from[k * panel_columns];
  } else {
    const std::uint16_t* const from = element<std::uint16_t>(output);
    for (Count k = 0; k < inputs_; ++k) row[k] = policies::from_bf16(from[k * panel_columns]);
  }
}

}  // namespace kvreplay::sim
