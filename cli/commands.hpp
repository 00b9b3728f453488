// The sub-commands. Each adds itself to the program; parsing runs nothing, it only chooses what to run.
#pragma once

#include <CLI/CLI.hpp>

#include <atomic>
#include <functional>

namespace kvreplay::cli {

// What the chosen sub-command does; its result is the exit code.
using Command = std::function<int()>;

// Set by the first SIGINT, SIGTERM or SIGHUP: replays stop after the evaluation under way.
extern std::atomic<bool> interrupted;
// Whether a replay is under way that can stop in order; before and between, a signal ends the program at once.
extern std::atomic<bool> stops_in_order;

void add_run(CLI::App& program, Command& chosen);
void add_explain(CLI::App& program, Command& chosen);
void add_verify(CLI::App& program, Command& chosen);
void add_check(CLI::App& program, Command& chosen);
void add_report(CLI::App& program, Command& chosen);
void add_merge(CLI::App& program, Command& chosen);
void add_compare(CLI::App& program, Command& chosen);
void add_import(CLI::App& program, Command& chosen);
void add_list(CLI::App& program, Command& chosen);

}  // namespace kvreplay::cli
