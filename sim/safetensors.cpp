#include "sim/safetensors.hpp"

#include "policies/bf16.hpp"
#include "sim/strict_json.hpp"
#include "workloads/input_error.hpp"

#include <fmt/format.h>
#include <Eigen/Core>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace kvreplay::sim {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

constexpr std::size_t length_bytes = 8;
constexpr std::uint64_t max_header_bytes = 100'000'000;  // as the reference implementation

[[noreturn]] void fail(const std::string& path, const std::string& tensor, const std::string& problem) {
  throw workloads::InputError(path, {}, tensor, problem);
}

std::string_view header_of(const MappedFile& file, const std::string& path) {
  const std::span<const std::byte> bytes = file.bytes();
  if (bytes.size() < length_bytes) fail(path, {}, "is too short for a safetensors file");
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), length_bytes);
  if (length > max_header_bytes) fail(path, {}, fmt::format("header of {} bytes is too long", length));
  if (length > bytes.size() - length_bytes) {
    fail(path, {}, fmt::format("is truncated: header of {} bytes, {} left", length, bytes.size() - length_bytes));
  }
  const std::string_view header = file.text().substr(length_bytes, length);
  if (!header.starts_with('{')) fail(path, {}, "header does not begin with '{'");
  return header;
}

std::int64_t unsigned_value(const nlohmann::json& value, const std::string& path, const std::string& tensor) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > INT64_MAX) {
    fail(path, tensor, "shape and data_offsets must hold whole numbers");
  }
  return value.get<std::int64_t>();
}

// Element count times element size; -1 where that does not fit.
std::int64_t size_of(const TensorView& tensor) {
  std::int64_t size = dtype_bytes(tensor.dtype);
  // Zero first: a huge extent beside it must not count as an overflow.
  if (std::find(tensor.shape.begin(), tensor.shape.end(), 0) != tensor.shape.end()) return 0;
  for (const std::int64_t extent : tensor.shape) {
    if (__builtin_mul_overflow(size, extent, &size)) return -1;
  }
  return size;
}

TensorView tensor_of(const nlohmann::json& entry, const std::string& name, const std::string& path,
                     std::span<const std::byte> data) {
  const bool complete = entry.is_object() && entry.size() == 3 && entry.contains("dtype") && entry.contains("shape") &&
                        entry.contains("data_offsets");
  if (!complete) fail(path, name, "needs exactly dtype, shape and data_offsets");
  const nlohmann::json &dtype = entry["dtype"], &shape = entry["shape"], &offsets = entry["data_offsets"];
  if (!dtype.is_string()) fail(path, name, "dtype must be a string");
  if (!shape.is_array()) fail(path, name, "shape must be a list");
  if (!offsets.is_array() || offsets.size() != 2) fail(path, name, "data_offsets must be two numbers");
  TensorView tensor{dtype.get<std::string>(), {}, {}};
  if (dtype_bytes(tensor.dtype) == 0) fail(path, name, fmt::format("unknown dtype '{}'", tensor.dtype));
  for (const nlohmann::json& extent : shape) tensor.shape.push_back(unsigned_value(extent, path, name));
  const std::int64_t begin = unsigned_value(offsets[0], path, name), end = unsigned_value(offsets[1], path, name);
  const auto data_size = static_cast<std::int64_t>(data.size());
  if (begin > end || end > data_size) {
    fail(path, name, fmt::format("data_offsets [{}, {}] lie outside the {} bytes of data", begin, end, data_size));
  }
  if (end - begin != size_of(tensor)) {
    fail(path, name, fmt::format("data_offsets hold {} bytes, which shape and dtype do not give", end - begin));
  }
  tensor.bytes = data.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  return tensor;
}

void check_tiling(const std::map<std::string, TensorView, std::less<>>& tensors, std::span<const std::byte> data,
                  const std::string& path) {
  std::vector<std::pair<std::span<const std::byte>, std::string>> parts;
  parts.reserve(tensors.size());
  for (const auto& [name, tensor] : tensors) parts.emplace_back(tensor.bytes, name);
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.data(), a.first.size()) < std::pair(b.first.data(), b.first.size());
  });
  const std::byte* next = data.data();
  for (const auto& [bytes, name] : parts) {
    if (bytes.data() < next) fail(path, name, "overlaps another tensor");
    if (bytes.data() > next) fail(path, name, "leaves a hole in the data before it");
    next = bytes.data() + bytes.size();
  }
  if (next != data.data() + data.size()) fail(path, {}, "has bytes that belong to no tensor");
}

}  // namespace

std::int64_t dtype_bytes(std::string_view dtype) {
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 15> sizes{{{"BOOL", 1},
                                                                                    {"U8", 1},
                                                                                    {"I8", 1},
                                                                                    {"F8_E5M2", 1},
                                                                                    {"F8_E4M3", 1},
                                                                                    {"I16", 2},
                                                                                    {"U16", 2},
                                                                                    {"F16", 2},
                                                                                    {"BF16", 2},
                                                                                    {"I32", 4},
                                                                                    {"U32", 4},
                                                                                    {"F32", 4},
                                                                                    {"F64", 8},
                                                                                    {"I64", 8},
                                                                                    {"U64", 8}}};
  for (const auto& [name, bytes] : sizes) {
    if (name == dtype) return bytes;
  }
  return 0;
}

std::int64_t TensorView::num_elements() const {
  return static_cast<std::int64_t>(bytes.size()) / std::max<std::int64_t>(1, dtype_bytes(dtype));
}

SafetensorsFile::SafetensorsFile(const std::string& path) : path_(path), file_(path) {
  const std::string_view header = header_of(file_, path_);
  const std::span<const std::byte> data = file_.bytes().subspan(length_bytes + header.size());
  const nlohmann::json document = parse_json_object(header, path_);
  for (const auto& [name, entry] : document.items()) {
    if (name != "__metadata__") {
      tensors_.emplace(name, tensor_of(entry, name, path_, data));
      continue;
    }
    if (!entry.is_object()) fail(path_, name, "must map strings to strings");
    for (const auto& [key, value] : entry.items()) {
      if (!value.is_string()) fail(path_, name, "must map strings to strings");
      metadata_.emplace(key, value.get<std::string>());
    }
  }
  check_tiling(tensors_, data, path_);
}

const TensorView& SafetensorsFile::tensor(std::string_view name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) fail(path_, std::string(name), "there is no such tensor");
  return found->second;
}

bool holds_floats(const TensorView& tensor) {
  return tensor.dtype == "F32" || tensor.dtype == "BF16" || tensor.dtype == "F16";
}

void copy_as_float(const TensorView& tensor, std::span<float> out) {
  if (tensor.dtype == "F32") {
    if (!out.empty()) std::memcpy(out.data(), tensor.bytes.data(), out.size() * sizeof(float));
    return;
  }
  const bool is_bf16 = tensor.dtype == "BF16";
  for (std::size_t index = 0; index < out.size(); ++index) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, tensor.bytes.data() + index * sizeof(bits), sizeof(bits));
    out[index] = is_bf16 ? policies::from_bf16(bits)
                         : Eigen::half_impl::half_to_float(Eigen::half_impl::raw_uint16_to_half(bits));
  }
}

std::vector<std::int32_t> int32_values(const SafetensorsFile& file, std::string_view name) {
  const TensorView& tensor = file.tensor(name);
  if (tensor.dtype != "I32") fail(file.path(), std::string(name), fmt::format("has dtype {}, not I32", tensor.dtype));
  std::vector<std::int32_t> values(static_cast<std::size_t>(tensor.num_elements()));
  if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

}  // namespace kvreplay::sim
