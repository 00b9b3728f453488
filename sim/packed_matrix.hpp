// A weight matrix in panels of 32 columns, as the fast kernels read it (kernels/kernel_table.hpp has the layout).
#pragma once

#include "policies/pages.hpp"
#include "sim/kernels/kernel_table.hpp"
#include "sim/weights.hpp"

namespace kvreplay::sim {

class PackedMatrix {
 public:
  PackedMatrix() = default;
  // All zero, in huge pages. Throws std::bad_alloc.
  PackedMatrix(Count outputs, Count inputs, ElementType type);

  Count outputs() const { return outputs_; }
  Count inputs() const { return inputs_; }
  Count num_panels() const { return (outputs_ + panel_columns - 1) / panel_columns; }
  ElementType type() const { return type_; }
  const void* panels() const { return pages_.data(); }

  // Stores the weights of outputs [first, first + count), [count][inputs]; values of a bf16 matrix must be bf16 values.
  // Threads may store outputs of different panels at the same time.
  void store(Count first, Count count, const float* rows);
  // The weights of one output, [inputs].
  void load(Count output, float* row) const;

 private:
  template <class Element>
  Element* element(Count output) const;

  Count outputs_ = 0, inputs_ = 0;
  ElementType type_ = ElementType::fp32;
  policies::MappedPages pages_;
};

}  // namespace kvreplay::sim
