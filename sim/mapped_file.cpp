#include "sim/mapped_file.hpp"

#include "workloads/input_error.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace kvreplay::sim {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what, int error) {
  throw workloads::InputError(path, {}, {}, what + ": " + std::generic_category().message(error));
}

class Descriptor {
 public:
  // Non-blocking, so that a named pipe is refused instead of waited for.
  explicit Descriptor(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  const Descriptor file(path);
  if (file.fd() < 0) fail(path, "cannot be opened", errno);
  struct stat status{};
  if (::fstat(file.fd(), &status) != 0) fail(path, "cannot be read", errno);
  if (!S_ISREG(status.st_mode)) throw workloads::InputError(path, {}, {}, "is not a regular file");
  if (status.st_size == 0) return;  // a mapping of no bytes is not allowed
  const auto size = static_cast<std::size_t>(status.st_size);
  const void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd(), 0);
  if (address == MAP_FAILED) fail(path, "cannot be mapped", errno);
  bytes_ = {static_cast<const std::byte*>(address), size};
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace kvreplay::sim
