#include "sim/safetensors.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <set>
#include <stdexcept>
#include <system_error>

namespace kvreplay::sim {
namespace {

// A file that appears under its name only when complete.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& path)
      : path_(path), temporary_(path + "." + std::to_string(::getpid()) + ".tmp") {
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd_ < 0) fail();
  }
  ~TemporaryFile() {
    if (fd_ >= 0) ::close(fd_);
    if (!committed_) ::unlink(temporary_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail();
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }

  void commit() {
    const int fd = fd_;
    fd_ = -1;
    if (::close(fd) != 0) fail();
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail();
    committed_ = true;
  }

 private:
  [[noreturn]] void fail() const { throw std::system_error(errno, std::generic_category(), "cannot write " + path_); }

  std::string path_, temporary_;
  int fd_ = -1;
  bool committed_ = false;
};

std::int64_t checked_bytes(const TensorSource& tensor) {
  std::int64_t wanted = dtype_bytes(tensor.dtype);
  if (wanted == 0) throw std::invalid_argument("tensor " + tensor.name + ": unknown dtype " + tensor.dtype);
  for (const std::int64_t extent : tensor.shape) {
    if (extent < 0 || __builtin_mul_overflow(wanted, extent, &wanted)) {
      throw std::invalid_argument("tensor " + tensor.name + ": impossible shape");
    }
  }
  std::int64_t given = 0;
  for (const std::span<const std::byte> chunk : tensor.chunks) given += static_cast<std::int64_t>(chunk.size());
  if (given != wanted) throw std::invalid_argument("tensor " + tensor.name + ": chunks do not fill the shape");
  return given;
}

std::string header_of(std::span<const TensorSource* const> tensors,
                      const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::int64_t offset = 0;
  for (const TensorSource* tensor : tensors) {
    if (header.contains(tensor->name)) throw std::invalid_argument("tensor " + tensor->name + " is given twice");
    const std::int64_t end = offset + checked_bytes(*tensor);
    header[tensor->name] = {{"dtype", tensor->dtype}, {"shape", tensor->shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace

void write_safetensors(const std::string& path, std::span<const TensorSource> tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::vector<const TensorSource*> ordered;
  ordered.reserve(tensors.size());
  for (const TensorSource& tensor : tensors) ordered.push_back(&tensor);
  std::sort(ordered.begin(), ordered.end(), [](const TensorSource* a, const TensorSource* b) {
    const std::int64_t a_bytes = dtype_bytes(a->dtype), b_bytes = dtype_bytes(b->dtype);
    return a_bytes != b_bytes ? a_bytes > b_bytes : a < b;  // else in the order given
  });
  const std::string header = header_of(ordered, metadata);
  const std::uint64_t header_bytes = header.size();
  TemporaryFile file(path);
  file.write(std::as_bytes(std::span(&header_bytes, 1)));
  file.write(std::as_bytes(std::span(header)));
  for (const TensorSource* tensor : ordered) {
    for (const std::span<const std::byte> chunk : tensor->chunks) file.write(chunk);
  }
  file.commit();
}

}  // namespace kvreplay::sim
