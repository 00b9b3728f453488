#include "tests/cli/program.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace kvreplay::cli::testing {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Finished shell(const std::string& command) {
  const ScratchFolder scratch;
  const std::string out = scratch.path("out"), err = scratch.path("err");
  const int status = std::system((command + " >'" + out + "' 2>'" + err + "' </dev/null").c_str());
  if (status == -1) throw std::runtime_error("cannot start a shell");
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content_of(out), content_of(err)};
}

Finished kvreplay(const std::string& arguments, const std::string& prefix) {
  return shell(prefix + " '" KVREPLAY_PROGRAM "' " + arguments);
}

ScratchFolder::ScratchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "kvreplay-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a scratch folder");
  folder_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
}

std::string ScratchFolder::file(const std::string& name, const std::string& content) const {
  std::ofstream(path(name), std::ios::binary) << content;
  return path(name);
}

std::size_t ScratchFolder::num_entries() const {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator()));
}

std::string recording(const std::string& name) {
  return std::string(KVREPLAY_SOURCE_DIR "/workloads/recorded/") + name + ".yaml";
}

}  // namespace kvreplay::cli::testing
