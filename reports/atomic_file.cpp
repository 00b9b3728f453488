#include "reports/atomic_file.hpp"

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kvreplay::reports {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view other_place = "choose another place";

std::string_view cure_of(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "make room or choose another place";
    case ENOENT:
      return "make the folder first or correct the path";
    case ENOTDIR:
      return "a part of the path is a file: correct it";
    case EISDIR:
      return "name a file in it";
    case EACCES:
    case EPERM:
    case EROFS:
      return "make it writable or choose another place";
    case ENAMETOOLONG:
      return "choose a shorter name";
    default:
      return other_place;
  }
}

[[noreturn]] void fail(const std::string& path, const std::string& what, int error) {
  throw FileError(path, fmt::format("{}: {}", what, std::generic_category().message(error)),
                  std::string(cure_of(error)));
}

// An open file that is closed, and removed if it bears a name still.
class OpenFile {
 public:
  OpenFile(int descriptor, std::string temporary_name)
      : descriptor_(descriptor), temporary_name_(std::move(temporary_name)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!temporary_name_.empty()) ::unlink(temporary_name_.c_str());
  }

  int descriptor() const { return descriptor_; }
  const std::string& temporary_name() const { return temporary_name_; }
  void keep() { temporary_name_.clear(); }

  // The last chance of some file systems to say that there was no room.
  bool close() {
    const int result = ::close(descriptor_);
    descriptor_ = -1;
    return result == 0;
  }

 private:
  int descriptor_;
  std::string temporary_name_;
};

bool write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// A descriptor of a process by name: what lies behind it is open already and must not be replaced.
bool names_descriptor(const fs::path& path) {
  const std::string folder = path.parent_path().string();
  return folder.starts_with("/proc/") || folder == "/dev/fd";
}

// Follows symbolic links, also to what does not exist yet. Empty where the path leads to an open descriptor.
fs::path resolved(const std::string& path) {
  constexpr int max_links = 40;
  fs::path at(path);
  for (int link = 0; link < max_links; ++link) {
    if (names_descriptor(at)) return {};
    std::error_code error;
    const fs::path next = fs::read_symlink(at, error);
    if (error) return at;
    at = next.is_absolute() ? next : at.parent_path() / next;
  }
  fail(path, "cannot follow its links", ELOOP);
}

// No O_TRUNC: behind /dev/stdout may lie a file that holds what was printed before.
void write_directly(const std::string& path, std::string_view content) {
  OpenFile file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC), "");
  if (file.descriptor() < 0) fail(path, "cannot open", errno);
  if (!write_all(file.descriptor(), content) || !file.close()) fail(path, "cannot write", errno);
}

fs::path folder_of(const fs::path& target) { return target.has_parent_path() ? target.parent_path() : fs::path("."); }

// A descriptor of a new file in `folder`, or -1 with errno set. The name is short, whatever the target's, and free: a
// file left by an earlier process of the same number is passed over.
int open_new(const fs::path& folder, std::string& name) {
  static std::atomic<unsigned> counter{0};
  for (;;) {
    name = (folder / fmt::format(".kvreplay-{}-{}.tmp", ::getpid(), counter++)).string();
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || (errno != EEXIST && errno != EINTR)) return descriptor;
  }
}

[[noreturn]] void fail_folder(const std::string& path, const fs::path& folder, int error) {
  std::error_code ignored;
  if (error == ENOENT && fs::exists(folder, ignored)) {  // one the system makes up, such as /proc
    throw FileError(path, fmt::format("folder {} takes no new files", folder.string()), std::string(other_place));
  }
  if (error == ENOENT) fail(path, fmt::format("folder {} does not exist", folder.string()), error);
  fail(path, fmt::format("cannot write into folder {}", folder.string()), error);
}

OpenFile temporary_beside(const fs::path& target, const std::string& path) {
  std::string name;
  const int descriptor = open_new(folder_of(target), name);
  if (descriptor < 0) fail_folder(path, folder_of(target), errno);
  return {descriptor, name};
}

// Not every file system can flush; what it cannot is no failure to write.
bool flush(int descriptor) { return ::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP; }

void flush_folder(const fs::path& target) {
  const std::string folder = folder_of(target).string();
  const OpenFile file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "");
  // The content is safe already; a rename that a power cut undoes leaves the old file, whole.
  if (file.descriptor() >= 0) static_cast<void>(::fsync(file.descriptor()));
}

void replace(const fs::path& target, const std::string& path, std::string_view content, const struct stat* existing) {
  OpenFile file = temporary_beside(target, path);
  if (existing != nullptr) static_cast<void>(::fchmod(file.descriptor(), existing->st_mode & 07777U));
  if (!write_all(file.descriptor(), content)) fail(path, "cannot write", errno);
  if (!flush(file.descriptor()) || !file.close()) fail(path, "cannot write", errno);
  if (::rename(file.temporary_name().c_str(), target.c_str()) != 0) fail(path, "cannot replace", errno);
  file.keep();
  flush_folder(target);
}

}  // namespace

FileError::FileError(const std::string& file, const std::string& what_failed, const std::string& remedy)
    : std::runtime_error(fmt::format("{}: {} ({})", file, what_failed, remedy)),
      path(file),
      problem(what_failed),
      cure(remedy) {}

namespace {

// What a path stands for, once it is known that a file could be put there.
struct Place {
  fs::path target;
  bool is_direct = false;  // a device, a pipe or an open descriptor
  bool exists = false;
  struct stat existing{};
};

Place place_of(const std::string& path) {
  if (path.empty()) throw FileError(path, "no file name", "name a file");
  Place place{.target = resolved(path), .is_direct = false, .exists = false, .existing = {}};
  place.is_direct = place.target.empty();
  if (place.is_direct) return place;
  place.exists = ::stat(place.target.c_str(), &place.existing) == 0;
  if (!place.exists) {
    if (errno != ENOENT) fail(path, "cannot write", errno);
    if (path.back() == '/') throw FileError(path, "the name ends in /", "name a file in the folder");
    return place;
  }
  if (S_ISDIR(place.existing.st_mode)) fail(path, "is a folder", EISDIR);
  place.is_direct = !S_ISREG(place.existing.st_mode);
  if (::access(place.target.c_str(), W_OK) != 0) fail(path, "cannot write", errno);
  return place;
}

}  // namespace

void write_atomically(const std::string& path, std::string_view content) {
  const Place place = place_of(path);
  if (place.is_direct) return write_directly(path, content);
  replace(place.target, path, content, place.exists ? &place.existing : nullptr);
}

void check_writable(const std::string& path) {
  const Place place = place_of(path);
  if (place.is_direct) return;
  std::string name;
  const int descriptor = open_new(folder_of(place.target), name);
  const int error = errno;
  const OpenFile probe(descriptor, descriptor < 0 ? "" : name);
  if (descriptor < 0 && error != ENOSPC && error != EDQUOT) fail_folder(path, folder_of(place.target), error);
}

}  // namespace kvreplay::reports
