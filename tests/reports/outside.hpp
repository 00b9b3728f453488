// Temporary folders and other people's programs, for tests that hand our files to their readers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kvreplay::reports::tests {

// A folder of its own that is gone with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  std::string path(std::string_view name) const;
  // Writes a file and gives its path.
  std::string file(std::string_view name, std::string_view content) const;
  std::vector<std::string> names() const;  // of all entries, sorted

 private:
  std::string folder_;
};

std::string content_of(const std::string& path);

struct ProgramResult {
  int exit_code = -1;
  std::string output;  // stdout and stderr
};

// Runs Python on a script with arguments.
ProgramResult run_python(std::string_view script, const std::vector<std::string>& arguments);
// Runs Python on a file.
ProgramResult run_python_file(const std::string& script_path, const std::vector<std::string>& arguments);

// Whether Python has a module. Where the project's packages are installed by its own scripts (Debian and its kin, any
// CI) a missing one fails the test; elsewhere a notice is printed and the caller leaves the check out.
bool python_has(const std::string& module, const std::string& debian_package);

// The same for a file of a package.
bool has_file(const std::string& path, const std::string& debian_package);

}  // namespace kvreplay::reports::tests
