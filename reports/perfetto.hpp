// The timeline as a trace in Chrome's JSON format, for ui.perfetto.dev and chrome://tracing.
#pragma once

#include "reports/result.hpp"

#include <string>

namespace kvreplay::reports {

// A process per run; in it a slice per evaluation of the timeline, with what was kept, fed and why, and the counter
// "KV cache bytes" with live, slack and transient. Time is that of the first repetition where every evaluation's was
// stored; otherwise (plan, or more than 100,000 evaluations) an evaluation is one millisecond long, and the process
// says so.
std::string write_perfetto(const ResultFile& file);

}  // namespace kvreplay::reports
