// What the tests of the decoder stack share: goldens, a cache that keeps everything, and collectors of outputs.
#pragma once

#include "tests/catch.hpp"

#include "policies/bf16.hpp"
#include "policies/memory_ledger.hpp"
#include "sim/decoder_stack.hpp"
#include "sim/safetensors.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace kvreplay::sim::fixtures {

inline std::string golden_path(const std::string& name) {
  return std::string(KVREPLAY_SOURCE_DIR) + "/tests/golden/" + name;
}

inline std::vector<float> floats_of(const SafetensorsFile& file, const std::string& name) {
  const TensorView& tensor = file.tensor(name);
  std::vector<float> values(static_cast<std::size_t>(tensor.num_elements()));
  copy_as_float(tensor, values);
  return values;
}

// What an engine gave for one list of tokens.
struct Golden {
  std::vector<policies::TokenId> tokens;
  std::vector<Count> positions;            // of the stored rows
  std::vector<std::vector<float>> hidden;  // [index][row * hidden_size]
  std::vector<float> logits;

  explicit Golden(const std::string& path) {
    const SafetensorsFile file(path);
    for (const std::int32_t id : int32_values(file, "input_ids")) tokens.push_back(static_cast<policies::TokenId>(id));
    if (file.tensors().contains("rows")) {
      for (const std::int32_t row : int32_values(file, "rows")) positions.push_back(row);
    } else {
      for (std::size_t row = 0; row < tokens.size(); ++row) positions.push_back(static_cast<Count>(row));
    }
    for (int index = 0;; ++index) {
      const std::string name = index < 10 ? "hidden_0" + std::to_string(index) : "hidden_" + std::to_string(index);
      if (!file.tensors().contains(name)) break;
      hidden.push_back(floats_of(file, name));
    }
    logits = floats_of(file, "logits");
  }
};

// Runs a test once with each kind of kernels; called once, at a test's beginning.
inline KernelChoice each_kernels() { return GENERATE(KernelChoice::plain, KernelChoice::fast); }

// Everything a stack gave for one list, by position.
struct Outputs {
  std::vector<std::vector<float>> hidden;  // [index][position * hidden_size]
  std::vector<float> logits;               // [position * logits_size]

  HiddenObserver observer() {
    return [this](Count index, Count first_position, Count count, std::span<const float> rows) {
      if (static_cast<Count>(hidden.size()) <= index) hidden.resize(static_cast<std::size_t>(index) + 1);
      std::vector<float>& part = hidden[static_cast<std::size_t>(index)];
      const auto size = rows.size() / static_cast<std::size_t>(count);
      part.resize(std::max(part.size(), (static_cast<std::size_t>(first_position + count)) * size));
      std::copy(rows.begin(), rows.end(),
                part.begin() + static_cast<std::ptrdiff_t>(first_position) * static_cast<std::ptrdiff_t>(size));
    };
  }
  void add_logits(std::span<const float> rows) { logits.insert(logits.end(), rows.begin(), rows.end()); }
};

// Keeps every row of every layer, in the cache's element type, in runs of `run_rows` rows and with gaps between rows
// and heads. Rows nobody may read hold NaN.
class KeepsAll : public policies::CachePolicy {
 public:
  explicit KeepsAll(const policies::CacheGeometry& geometry, Count run_rows = 1000, Count gap = 0)
      : geometry_(geometry),
        run_rows_(run_rows),
        head_stride_(geometry.head_dim + gap),
        row_stride_(geometry.num_kv_heads * head_stride_ + gap),
        layers_(geometry.slides.size()) {}

  policies::KvView rows(Count layer, const policies::FreshRows& fresh) override {
    Layer& kept = layers_[static_cast<std::size_t>(layer)];
    kept.count = fresh.first_position + fresh.count;  // rows past a rewind are overwritten
    for (Count row = 0; row < fresh.count; ++row) write(kept, fresh.first_position + row, fresh, row);
    kept.runs.clear();
    for (Count first = 0; first < kept.count; first += run_rows_) {
      const Count count = std::min(run_rows_, kept.count - first);
      Block& block = kept.blocks[static_cast<std::size_t>(first / run_rows_)];
      kept.runs.push_back(
          {first, count, data(block.keys), data(block.values), row_stride_, head_stride_, geometry_.element_type});
    }
    std::reverse(kept.runs.begin(), kept.runs.end());  // no order is promised
    return {kept.runs, {}};
  }
  void store(Count, const policies::FreshRows&) override {}
  void finish() override {}
  policies::Admission admit(const policies::Request&) override { throw std::logic_error("not asked in these tests"); }
  const policies::MemoryLedger& ledger() const override { throw std::logic_error("not asked in these tests"); }

 private:
  struct Block {
    std::vector<std::byte> keys, values;
  };
  struct Layer {
    Count count = 0;
    std::vector<Block> blocks;
    std::vector<policies::KvRun> runs;
  };

  static const void* data(const std::vector<std::byte>& bytes) { return bytes.data(); }

  void put(std::vector<std::byte>& bytes, Count element, float value) const {
    if (geometry_.element_type == policies::ElementType::fp32) {
      std::memcpy(bytes.data() + element * 4, &value, 4);
    } else {
      const std::uint16_t bits = policies::to_bf16(value);
      std::memcpy(bytes.data() + element * 2, &bits, 2);
    }
  }

  void write(Layer& layer, Count position, const policies::FreshRows& fresh, Count row) {
    const auto place = static_cast<std::size_t>(position / run_rows_);
    while (layer.blocks.size() <= place) {
      const Count elements = run_rows_ * row_stride_;
      Block block;
      for (std::vector<std::byte>* bytes : {&block.keys, &block.values}) {
        bytes->resize(static_cast<std::size_t>(elements * policies::element_bytes(geometry_.element_type)));
        for (Count element = 0; element < elements; ++element)
          put(*bytes, element, std::numeric_limits<float>::quiet_NaN());
      }
      layer.blocks.push_back(std::move(block));
    }
    const Count heads = geometry_.num_kv_heads, size = geometry_.head_dim;
    for (Count head = 0; head < heads; ++head) {
      for (Count index = 0; index < size; ++index) {
        const Count from = (row * heads + head) * size + index;
        const Count to = (position % run_rows_) * row_stride_ + head * head_stride_ + index;
        put(layer.blocks[place].keys, to, fresh.keys[from]);
        put(layer.blocks[place].values, to, fresh.values[from]);
      }
    }
  }

  policies::CacheGeometry geometry_;
  Count run_rows_, head_stride_, row_stride_;
  std::vector<Layer> layers_;
};

// Largest |a - b|; NaN anywhere, or different sizes, count as infinite.
inline double largest_difference(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::size_t index = 0; index < a.size(); ++index) {
    const double difference = std::abs(static_cast<double>(a[index]) - static_cast<double>(b[index]));
    if (!(difference <= largest))
      largest = std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
  }
  return largest;
}

// Largest difference between all that a golden holds and the same rows of `outputs`.
inline double difference_to(const Golden& golden, const Outputs& outputs) {
  double largest = golden.hidden.size() == outputs.hidden.size() ? 0 : std::numeric_limits<double>::infinity();
  const auto compare = [&](const std::vector<float>& wanted, const std::vector<float>& given) {
    const std::size_t size = wanted.size() / golden.positions.size();
    if (given.size() != golden.tokens.size() * size) {
      largest = std::numeric_limits<double>::infinity();
      return;
    }
    for (std::size_t row = 0; row < golden.positions.size(); ++row) {
      const std::span<const float> mine =
          std::span(given).subspan(static_cast<std::size_t>(golden.positions[row]) * size, size);
      largest = std::max(largest, largest_difference(std::span(wanted).subspan(row * size, size), mine));
    }
  };
  for (std::size_t index = 0; index < std::min(golden.hidden.size(), outputs.hidden.size()); ++index) {
    compare(golden.hidden[index], outputs.hidden[index]);
  }
  compare(golden.logits, outputs.logits);
  return largest;
}

}  // namespace kvreplay::sim::fixtures
