// How the program talks to a person: colour, progress and notes. Results go to stdout, all of this to stderr.
#pragma once

#include "sim/experiment.hpp"

#include <chrono>
#include <string>

namespace kvreplay::cli {

enum class ProgressStyle { bar, plain, none };

struct TerminalOptions {
  std::string color = "auto";     // auto | always | never; NO_COLOR is honoured
  std::string progress = "auto";  // auto | bar | plain | none; CI is honoured
};

// A line on stderr. A stderr that is closed or full loses it, nothing else.
void say(const std::string& line);

// Whether stdout gets colours.
bool wants_color(const TerminalOptions& options);
// Columns of the terminal behind stdout, or a width that suits a file.
std::size_t terminal_width();

// Progress of a run: a bar on a terminal, else one plain line every few seconds.
class ProgressReporter : public sim::ExperimentObserver {
 public:
  explicit ProgressReporter(const TerminalOptions& options);
  ~ProgressReporter() override;

  void note(const std::string& text) override;
  void expectation(double seconds) override;
  void begin(sim::Count cell, sim::Count num_cells, const std::string& what, sim::Count num_evaluations) override;
  void progress(sim::Count evaluations_done) override;
  void end() override;

 private:
  void draw(sim::Count done);
  void clear_bar();

  ProgressStyle style_;
  sim::Count cell_ = 0, num_cells_ = 0, num_evaluations_ = 0;
  std::string what_;
  bool bar_drawn_ = false;
  std::chrono::steady_clock::time_point last_shown_;
};

}  // namespace kvreplay::cli
