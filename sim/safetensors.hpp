// Reads safetensors files by mapping them, and writes them.
//
// Format: github.com/huggingface/safetensors, README "Format": u64 header length, JSON header, tensors back to back.
#pragma once

#include "sim/mapped_file.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvreplay::sim {

// A tensor in a file, row-major; `bytes` is not necessarily aligned and lives as long as the file object.
struct TensorView {
  std::string dtype;  // F32, BF16, I32, ... as in the header
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;

  std::int64_t num_elements() const;
};

class SafetensorsFile {
 public:
  // Checks the whole header: every tensor lies inside the file, none overlap, no byte is left over. Throws InputError.
  explicit SafetensorsFile(const std::string& path);

  const std::string& path() const { return path_; }
  const std::map<std::string, TensorView, std::less<>>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  // Throws InputError if there is no tensor of that name.
  const TensorView& tensor(std::string_view name) const;

 private:
  std::string path_;
  MappedFile file_;
  std::map<std::string, TensorView, std::less<>> tensors_;
  std::map<std::string, std::string> metadata_;
};

// Whether copy_as_float() knows the type: F32, BF16 and F16.
bool holds_floats(const TensorView& tensor);

// The elements as floats. out.size() == num_elements() and holds_floats() must hold.
void copy_as_float(const TensorView& tensor, std::span<float> out);

// The elements of an I32 tensor. Throws InputError naming `file` and `name` for another type.
std::vector<std::int32_t> int32_values(const SafetensorsFile& file, std::string_view name);

// A tensor to write: its bytes are the chunks one after the other.
struct TensorSource {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::span<const std::byte>> chunks;
};

// Writes a complete file or none: to a temporary beside `path`, then renames it. Tensors follow each other by falling
// element size, so that each is aligned. Throws std::invalid_argument where chunks do not fit the shape, a type is
// unknown or a name is given twice; std::system_error where writing fails (nothing is left behind).
void write_safetensors(const std::string& path, std::span<const TensorSource> tensors,
                       const std::map<std::string, std::string>& metadata = {});

// Bytes of an element of a safetensors type, 0 for an unknown type.
std::int64_t dtype_bytes(std::string_view dtype);

}  // namespace kvreplay::sim
