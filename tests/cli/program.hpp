// Runs the program as a user does and keeps what it printed.
#pragma once

#include <filesystem>
#include <string>

namespace kvreplay::cli::testing {

struct Finished {
  int exit_code = -1;
  std::string out, err;
};

// `arguments` are a shell's; stdin is empty. `prefix` goes before the program (an environment, ulimit ...).
Finished kvreplay(const std::string& arguments, const std::string& prefix = "");

// Runs a whole command line of a shell.
Finished shell(const std::string& command);

// A folder that is removed with its content.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  // Writes a file and gives its path.
  std::string file(const std::string& name, const std::string& content) const;
  std::size_t num_entries() const;

 private:
  std::filesystem::path folder_;
};

std::string content_of(const std::string& path);

// A recording shipped with the project, ENGINE/NAME.
std::string recording(const std::string& name);

}  // namespace kvreplay::cli::testing
