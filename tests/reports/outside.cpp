#include "tests/reports/outside.hpp"

#include "tests/catch.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include <sys/wait.h>
#include <unistd.h>

namespace kvreplay::reports::tests {
namespace {

namespace fs = std::filesystem;

std::string quoted(const std::string& argument) {
  std::string text = "'";
  for (const char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

ProgramResult run(const std::string& command) {
  ProgramResult result;
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start " + command);
  char piece[4096];
  for (std::size_t got = 0; (got = std::fread(piece, 1, sizeof(piece), pipe)) > 0;) result.output.append(piece, got);
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  return result;
}

// Says so where a tool is missing, and fails where it must not be.
bool missing(const std::string& what, const std::string& debian_package) {
  const std::string notice = what + " is missing (Debian: " + debian_package + "): its check was left out";
  if (fs::exists("/etc/debian_version") || std::getenv("CI") != nullptr) FAIL(notice);
  WARN(notice);
  std::cerr << "NOTICE: " << notice << '\n';
  return false;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (fs::temp_directory_path() / "kvreplay-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string TemporaryFolder::path(std::string_view name) const { return (fs::path(folder_) / name).string(); }

std::string TemporaryFolder::file(std::string_view name, std::string_view content) const {
  std::ofstream(path(name), std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
  return path(name);
}

std::vector<std::string> TemporaryFolder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

ProgramResult run_python(std::string_view script, const std::vector<std::string>& arguments) {
  const TemporaryFolder folder;
  return run_python_file(folder.file("script.py", script), arguments);
}

ProgramResult run_python_file(const std::string& script_path, const std::vector<std::string>& arguments) {
  std::string command = quoted(KVREPLAY_PYTHON) + " " + quoted(script_path);
  for (const std::string& argument : arguments) command += " " + quoted(argument);
  return run(command);
}

bool python_has(const std::string& module, const std::string& debian_package) {
  if (run_python("import " + module + "\n", {}).exit_code == 0) return true;
  return missing("Python's " + module, debian_package);
}

bool has_file(const std::string& path, const std::string& debian_package) {
  if (fs::exists(path)) return true;
  return missing(path, debian_package);
}

}  // namespace kvreplay::reports::tests
