// A file mapped into memory for reading, so that a checkpoint needs no second copy.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace kvreplay::sim {

// The bytes are valid as long as the object lives. The file must not be shortened meanwhile.
class MappedFile {
 public:
  // Throws InputError if `path` is no regular file or can not be read.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  MappedFile(MappedFile&& other) noexcept;

  std::span<const std::byte> bytes() const { return bytes_; }
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace kvreplay::sim
