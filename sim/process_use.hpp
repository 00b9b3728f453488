// What the operating system says a stretch of work used: resident memory, page faults, context switches.
//
// The high-water mark is VmHWM, reset through /proc/self/clear_refs; never ru_maxrss, which survives exec and would
// report a parent's peak.
#pragma once

#include "reports/result.hpp"

namespace kvreplay::sim {

class ProcessUseMeter {
 public:
  ProcessUseMeter();                   // starts the stretch
  reports::ProcessUse finish() const;  // ends it; fields the system cannot tell are absent

 private:
  reports::ProcessUse start_;
  bool peak_was_reset_ = false;
};

}  // namespace kvreplay::sim
