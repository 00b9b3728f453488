// What the program's exit code means; a promise to scripts.
#pragma once

namespace kvreplay::cli {

enum ExitCode : int {
  exit_ok = 0,              // ran; nothing failed
  exit_gate_failed = 1,     // a verification, a budget, a comparison with a log or an asked-for outcome failed
  exit_input = 2,           // usage or input error
  exit_failure = 3,         // run-time failure: I/O, memory, broken invariant
  exit_not_comparable = 4,  // baseline missing, or results of different runs
  exit_inconclusive = 5,    // nothing failed, something stayed open, and --fail-on inconclusive asked
  exit_interrupted = 130,
};

}  // namespace kvreplay::cli
