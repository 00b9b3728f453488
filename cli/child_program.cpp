#include "cli/child_program.hpp"

#include "cli/commands.hpp"
#include "policies/option_error.hpp"
#include "reports/text.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to the program

namespace kvreplay::cli {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

// What is wrong with a file that is there and may be executed.
const char* cure_of(int error) {
  if (error == ENOENT) return "; the interpreter that it needs is missing (its first line or 'file' names it)";
  if (error == ENOEXEC) return "; it was built for another system, or is a script without '#!' in its first line";
  return "";
}

std::vector<char*> child_environment() {
  constexpr std::string_view hidden = "GITHUB_STEP_SUMMARY=";
  std::vector<char*> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with(hidden)) variables.push_back(*variable);
  }
  variables.push_back(nullptr);
  return variables;
}

// Its process id; `err` is the file descriptor that becomes its stderr.
pid_t start(const std::vector<std::string>& words, int err) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::vector<char*> variables = child_environment();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw policies::OptionError(fmt::format("{} cannot be started: {}{}", words[0], reason(error), cure_of(error)));
  }
  return child;
}

// A program that runs.
class Child {
 public:
  explicit Child(pid_t id) : id_(id) {}

  // The end of all that comes until the other side closes. Waits in poll(), which a signal ends even where it restarts
  // other calls.
  std::string read_to_end(int descriptor) {
    constexpr std::size_t kept_bytes = 8192;
    std::string text;
    std::array<char, 4096> buffer{};
    for (;;) {
      pass_interruption_on();
      constexpr int interrupted_at_least_every_ms = 500;  // one that came just before poll()
      pollfd waited{descriptor, POLLIN, 0};
      const int ready = poll(&waited, 1, interrupted_at_least_every_ms);
      if (ready == 0 && has_ended()) return text;  // one it started holds the other side open
      if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
      const ssize_t count = read(descriptor, buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return text;
      text.append(buffer.data(), static_cast<std::size_t>(count));
      if (text.size() > 2 * kept_bytes) text.erase(0, text.size() - kept_bytes);
    }
  }

  // Its status as of waitpid(), once it has ended; it may have closed what is read long before.
  int status() {
    constexpr int looked_at_every_ms = 5;
    while (!has_ended()) {
      pass_interruption_on();
      poll(nullptr, 0, looked_at_every_ms);
    }
    int status = 0;
    waitpid(id_, &status, 0);
    return status;
  }

 private:
  // Or is none of ours any more, where this program was started with SIGCHLD ignored.
  bool has_ended() const {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOHANG | WNOWAIT) != 0) return errno == ECHILD;
    return info.si_pid == id_;
  }

  // What it computes is thrown away, so it is not given the time that an evaluation may take.
  void pass_interruption_on() {
    constexpr std::chrono::seconds time_to_end{2};
    const auto now = std::chrono::steady_clock::now();
    if (!interrupted || is_killed_) return;
    if (!passed_on_) {
      kill(id_, SIGTERM);
      passed_on_ = now;
    } else if (now - *passed_on_ > time_to_end) {
      kill(id_, SIGKILL);
      is_killed_ = true;
    }
  }

  pid_t id_;
  std::optional<std::chrono::steady_clock::time_point> passed_on_;
  bool is_killed_ = false;
};

// Another program's words: its lines, without what would steer the terminal.
std::string printable_lines(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) out += (out.empty() ? "" : "\n") + reports::printable(line);
  return out;
}

}  // namespace

ChildEnd run_child(const std::vector<std::string>& words) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw policies::OptionError("no pipe to a program: " + reason(errno));
  pid_t id = 0;
  try {
    id = start(words, ends[1]);
  } catch (...) {
    close(ends[0]);
    close(ends[1]);
    throw;
  }
  close(ends[1]);
  Child child(id);
  ChildEnd end;
  end.err = printable_lines(child.read_to_end(ends[0]));
  close(ends[0]);
  const int status = child.status();
  end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return end;
}

std::string this_program() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) throw policies::OptionError("the path of this program is not known: name it with --candidate-program");
  return path.string();
}

}  // namespace kvreplay::cli
