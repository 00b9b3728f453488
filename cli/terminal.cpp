#include "cli/terminal.hpp"

#include "cli/commands.hpp"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace kvreplay::cli {
namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

ProgressStyle style_of(const std::string& name) {
  if (name == "bar") return ProgressStyle::bar;
  if (name == "plain") return ProgressStyle::plain;
  if (name == "none") return ProgressStyle::none;
  return isatty(STDERR_FILENO) != 0 && !is_set("CI") ? ProgressStyle::bar : ProgressStyle::plain;
}

// Without a line's end.
void show(const std::string& text) {
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
  (void)std::fflush(stderr);
}

constexpr std::chrono::milliseconds bar_interval{100};
constexpr std::chrono::seconds plain_interval{5};

}  // namespace

void say(const std::string& line) {
  const std::string text = line + '\n';
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
}

bool wants_color(const TerminalOptions& options) {
  if (options.color == "always") return true;
  if (options.color == "never" || is_set("NO_COLOR")) return false;
  return isatty(STDOUT_FILENO) != 0;
}

std::size_t terminal_width() {
  winsize size{};
  constexpr std::size_t file_width = 120;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return file_width;
  return size.ws_col;
}

ProgressReporter::ProgressReporter(const TerminalOptions& options)
    : style_(style_of(options.progress)), last_shown_(std::chrono::steady_clock::now()) {}

ProgressReporter::~ProgressReporter() { clear_bar(); }

void ProgressReporter::note(const std::string& text) {
  clear_bar();
  say("note: " + text);
}

void ProgressReporter::expectation(double seconds) {
  constexpr double worth_saying_seconds = 10;
  if (seconds < worth_saying_seconds) return;
  note("the run is expected to take about " + sim::duration_text(seconds));
}

void ProgressReporter::begin(sim::Count cell, sim::Count num_cells, const std::string& what,
                             sim::Count num_evaluations) {
  stops_in_order = true;
  cell_ = cell;
  num_cells_ = num_cells;
  what_ = what;
  num_evaluations_ = num_evaluations;
  if (style_ == ProgressStyle::bar) draw(0);
}

void ProgressReporter::progress(sim::Count evaluations_done) {
  if (style_ == ProgressStyle::none) return;
  const auto now = std::chrono::steady_clock::now();
  const bool due =
      style_ == ProgressStyle::bar ? now - last_shown_ >= bar_interval : now - last_shown_ >= plain_interval;
  if (!due) return;
  last_shown_ = now;
  draw(evaluations_done);
}

void ProgressReporter::end() { clear_bar(); }

void ProgressReporter::draw(sim::Count done) {
  std::string label = fmt::format("[{}/{}] {}", cell_, num_cells_, what_);
  if (num_evaluations_ > 0) label += fmt::format(": {} of {} evaluations", done, num_evaluations_);
  if (style_ == ProgressStyle::plain) {
    say(label);
    return;
  }
  constexpr int bar_columns = 20;
  const auto filled = static_cast<int>(num_evaluations_ > 0 ? done * bar_columns / num_evaluations_
                                                            : (cell_ - 1) * bar_columns / num_cells_);
  const auto bar = fmt::format("{:#>{}}", "", std::clamp(filled, 0, bar_columns));
  // The line must not wrap, or the carriage return could not take it back.
  const auto width = std::max<std::size_t>(terminal_width(), bar_columns + 24) - bar_columns - 4;
  show(fmt::format("\r\x1b[K|{:<{}}| {}", bar, bar_columns, label.substr(0, width)));
  bar_drawn_ = true;
}

void ProgressReporter::clear_bar() {
  if (!bar_drawn_) return;
  show("\r\x1b[K");
  bar_drawn_ = false;
}

}  // namespace kvreplay::cli
