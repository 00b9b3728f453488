// Writes a file whole or not at all.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace kvreplay::reports {

// "FILE: problem (cure)".
class FileError : public std::runtime_error {
 public:
  FileError(const std::string& path, const std::string& problem, const std::string& cure);
  std::string path, problem, cure;
};

// Puts `content` into the file at `path`: written to a temporary file in the same folder, flushed to the disk, renamed.
// Whatever happens, a kill included, the file holds the old content or the new one, whole; a temporary file left behind
// by a kill (".kvreplay-*.tmp") disturbs nobody. A symbolic link stays and its target is written; an existing file
// keeps its permissions. Devices, pipes and the likes of /dev/stdout are written directly. Throws FileError: empty
// path, folder missing or not writable, a directory, read-only, no room, any failed write.
void write_atomically(const std::string& path, std::string_view content);

// Throws FileError where write_atomically would before it writes: asked ahead of the work whose result the file is to
// hold. Leaves nothing behind. A disk that is full now may have room then and is no fault.
void check_writable(const std::string& path);

}  // namespace kvreplay::reports
