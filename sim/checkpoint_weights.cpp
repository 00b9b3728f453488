#include "sim/safetensors.hpp"
#include "sim/strict_json.hpp"
#include "sim/weights.hpp"
#include "workloads/input_error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <map>

namespace kvreplay::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* single_file = "model.safetensors";
constexpr const char* index_file = "model.safetensors.index.json";

struct Found {
  const SafetensorsFile* file = nullptr;
  const TensorView* tensor = nullptr;
};

// The tensors of a folder: one file, or the shards that an index names.
class Checkpoint {
 public:
  explicit Checkpoint(const std::string& folder) : folder_(folder) {
    const fs::path single = fs::path(folder) / single_file, index = fs::path(folder) / index_file;
    std::error_code error;
    if (fs::exists(single, error)) {
      add_file(single_file);
    } else if (fs::exists(index, error)) {
      read_index(index.string());
    } else {
      throw workloads::InputError(folder, {}, {}, fmt::format("holds neither {} nor {}", single_file, index_file));
    }
  }

  // Names may come with or without the prefix of the whole language model.
  Found find(const std::string& name) const {
    for (const std::string& full_name : {"model." + name, name}) {
      if (const auto found = tensors_.find(full_name); found != tensors_.end()) return found->second;
    }
    throw workloads::InputError(folder_, {}, "model." + name, "the checkpoint has no such tensor");
  }

 private:
  const SafetensorsFile& add_file(const std::string& name) {
    const auto [place, is_new] = files_.try_emplace(name, (fs::path(folder_) / name).string());
    if (!is_new) return place->second;
    for (const auto& [tensor_name, tensor] : place->second.tensors()) {
      const auto [known, inserted] = tensors_.try_emplace(tensor_name, Found{&place->second, &tensor});
      if (!inserted) {
        throw workloads::InputError(place->second.path(), {}, tensor_name,
                                    fmt::format("is also in {}", known->second.file->path()));
      }
    }
    return place->second;
  }

  void read_index(const std::string& path) {
    const MappedFile text(path);
    const nlohmann::json document = parse_json_object(text.text(), path);
    const auto map = document.find("weight_map");
    if (map == document.end() || !map->is_object()) {
      throw workloads::InputError(path, {}, "weight_map", "must map names of tensors to files");
    }
    for (const auto& [tensor, file] : map->items()) {
      const std::string place = "weight_map." + tensor;
      if (!file.is_string()) throw workloads::InputError(path, {}, place, "must be the name of a file");
      const auto name = file.get<std::string>();
      const bool plain = !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
      if (!plain) throw workloads::InputError(path, {}, place, "must be a file beside the index");
      if (!add_file(name).tensors().contains(tensor)) {
        throw workloads::InputError(path, {}, place, fmt::format("{} holds no such tensor", name));
      }
    }
  }

  std::string folder_;
  std::map<std::string, SafetensorsFile> files_;  // node-based: views point into it
  std::map<std::string, Found, std::less<>> tensors_;
};

void check_shape(const Found& found, const WeightSlot& slot) {
  const std::string name = "model." + slot.name;
  std::vector<std::int64_t> shape;
  if (!slot.is_norm()) shape.push_back(slot.rows);
  shape.push_back(slot.columns);
  if (found.tensor->shape != shape) {
    throw workloads::InputError(found.file->path(), {}, name,
                                fmt::format("has shape [{}], the model needs [{}]",
                                            fmt::join(found.tensor->shape, ", "), fmt::join(shape, ", ")));
  }
  if (!holds_floats(*found.tensor)) {
    throw workloads::InputError(found.file->path(), {}, name,
                                fmt::format("has dtype {}; weights must be F32, BF16 or F16", found.tensor->dtype));
  }
}

// Index of the first element that is no number, or -1.
Count first_fault(std::span<const float> values) {
  for (std::size_t index = 0; index < values.size(); ++index) {
    if (!std::isfinite(values[index])) return static_cast<Count>(index);
  }
  return -1;
}

void read(const Checkpoint& checkpoint, const WeightSlot& slot, bool as_bf16, const RowSink& sink) {
  const Found found = checkpoint.find(slot.name);
  const std::int64_t row_bytes = slot.columns * dtype_bytes(found.tensor->dtype);
  std::atomic<Count> fault = -1;  // the lowest index any thread found
  for_row_groups(slot, as_bf16, sink, [&](Count first_row, Count count, float* rows) {
    TensorView part = *found.tensor;
    part.bytes = part.bytes.subspan(static_cast<std::size_t>(first_row * row_bytes),
                                    static_cast<std::size_t>(count * row_bytes));
    const std::span<float> out(rows, static_cast<std::size_t>(count * slot.columns));
    copy_as_float(part, out);
    const Count here = first_fault(out);
    if (here < 0) return;
    const Count index = first_row * slot.columns + here;
    Count known = fault;
    while ((known < 0 || index < known) && !fault.compare_exchange_weak(known, index)) {
    }
  });
  if (fault < 0) return;
  const Count row = fault / slot.columns, column = fault % slot.columns;
  TensorView element = *found.tensor;
  element.bytes =
      element.bytes.subspan(static_cast<std::size_t>(row * row_bytes + column * dtype_bytes(found.tensor->dtype)),
                            static_cast<std::size_t>(dtype_bytes(found.tensor->dtype)));
  float value = 0;
  copy_as_float(element, {&value, 1});
  throw workloads::InputError(found.file->path(), {}, "model." + slot.name,
                              fmt::format("element {} is {}", fault.load(), std::isnan(value) ? "NaN" : "infinite"));
}

}  // namespace

void read_checkpoint(const std::string& folder, std::span<const WeightSlot> slots, bool as_bf16,
                     const std::function<RowSink(const WeightSlot&)>& place) {
  const Checkpoint checkpoint(folder);
  for (const WeightSlot& slot : slots) {
    check_shape(checkpoint.find(slot.name), slot);
    read(checkpoint, slot, as_bf16, place(slot));
  }
}

}  // namespace kvreplay::sim
