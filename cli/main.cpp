// kvreplay: parses the command line, calls the libraries, maps errors to exit codes.

#include "cli/commands.hpp"
#include "cli/errors.hpp"
#include "cli/exit_codes.hpp"
#include "cli/terminal.hpp"
#include "policies/option_error.hpp"
#include "sim/machine.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <sstream>
#include <string>
#include <vector>

namespace kvreplay::cli {

std::atomic<bool> interrupted{false};
std::atomic<bool> stops_in_order{false};

namespace {

static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may touch it");

timespec first_interrupt{};

// The first SIGINT, SIGTERM or SIGHUP asks for an orderly end, a later one ends the program at once. Two at almost the
// same time are one: `timeout` signals the program and then its group.
extern "C" void note_interrupt(int signal) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const double seconds = static_cast<double>(now.tv_sec - first_interrupt.tv_sec) +
                         1e-9 * static_cast<double>(now.tv_nsec - first_interrupt.tv_nsec);
  constexpr double same_interrupt_seconds = 0.2;
  if (!stops_in_order) {
    std::signal(signal, SIG_DFL);  // nothing is under way that could be lost
    raise(signal);
  } else if (!interrupted.exchange(true)) {
    first_interrupt = now;
    constexpr char text[] = "\nstopping after this evaluation; the same signal again stops at once, without a report\n";
    if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0) return;
  } else if (seconds > same_interrupt_seconds) {
    std::signal(signal, SIG_DFL);
    raise(signal);
  }
}

// Names a word could have meant: options of the command it was given to, or sub-commands.
std::vector<std::string> known_words(const CLI::App& program) {
  std::vector<std::string> words;
  const CLI::App* command = &program;
  for (const CLI::App* chosen : program.get_subcommands()) command = chosen;
  for (const CLI::Option* option : command->get_options()) {
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  }
  if (command == &program) {
    for (const CLI::App* sub : program.get_subcommands([](const CLI::App*) { return true; }))
      words.push_back(sub->get_name());
  }
  return words;
}

int explain_parse_error(const CLI::App& program, const CLI::ParseError& error, int argc, char* argv[]) {
  const std::vector<std::string> words = known_words(program);
  std::string hint;
  for (int i = 1; i < argc && hint.empty(); ++i) {
    const std::string word = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
    const bool known = std::find(words.begin(), words.end(), word) != words.end();
    if (!known && (word.starts_with("--") || program.get_subcommands().empty())) hint = nearest(word, words);
  }
  std::string problem = error.what();
  if (program.get_subcommands().empty() && argc > 1 && argv[1][0] != '-') {
    problem = fmt::format("there is no sub-command '{}'", argv[1]);
  }
  say(fmt::format("kvreplay: {}{}", problem, hint.empty() ? "" : fmt::format(" (did you mean '{}'?)", hint)));
  std::string command = "kvreplay";
  for (const CLI::App* chosen : program.get_subcommands()) command += " " + chosen->get_name();
  say(fmt::format("'{} --help' explains the options.", command));
  return exit_input;
}

// An empty value is most often an unset variable of a script; to ignore it would switch a gate off.
void refuse_empty_values(const CLI::App& program) {
  for (const CLI::App* command : program.get_subcommands()) {
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& value : option->results()) {
        if (value.empty()) throw policies::OptionError(option->get_name() + " is given an empty value");
      }
    }
  }
}

// Output that is lost must not look like success.
int flushed(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  say("kvreplay: stdout cannot be written; is the pipe or the disk behind it gone or full?");
  return code == exit_ok ? exit_failure : code;
}

int run_program(int argc, char* argv[]) {
  CLI::App program{
      "Replays recorded generation workloads against KV-cache policies and measures what each of them\n"
      "reallocates, copies, zeroes, recomputes and holds."};
  program.name("kvreplay");
  program.set_version_flag("--version", [] { return sim::version_text(); });
  program.require_subcommand(1);
  program.footer(
      "Exit codes: 0 ran; 1 a verification, budget or comparison failed; 2 usage or input error;\n"
      "3 run-time failure; 4 baseline missing or results that are not comparable; 5 inconclusive (where asked);\n"
      "130 interrupted (SIGINT, SIGTERM, SIGHUP).");
  Command chosen;
  add_run(program, chosen);
  add_explain(program, chosen);
  add_verify(program, chosen);
  add_check(program, chosen);
  add_report(program, chosen);
  add_merge(program, chosen);
  add_compare(program, chosen);
  add_import(program, chosen);
  add_list(program, chosen);
  if (argc <= 1) {
    say(program.help());
    return exit_input;
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    std::ostringstream text;
    program.exit(help_or_version, text, text);
    return flushed(guarded([&text] {
      fmt::print("{}", text.str());
      return exit_ok;
    }));
  } catch (const CLI::ParseError& error) {
    return explain_parse_error(program, error, argc, argv);
  }
  std::signal(SIGINT, note_interrupt);
  std::signal(SIGTERM, note_interrupt);
  if (std::signal(SIGHUP, note_interrupt) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // nohup's wish
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit is an error of the write, not the end of the program
  return flushed(guarded([&] {
    refuse_empty_values(program);
    return chosen();
  }));
}

}  // namespace
}  // namespace kvreplay::cli

int main(int argc, char* argv[]) { return kvreplay::cli::run_program(argc, argv); }
