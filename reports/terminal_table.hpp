// What `run` prints: one table a workload, a line per policy, and a legend for newcomers.
#pragma once

#include "reports/overview.hpp"
#include "reports/result.hpp"

#include <string>

namespace kvreplay::reports {

struct TerminalStyle {
  bool color = false;
  std::size_t columns = 100;   // to fit into; wider tables continue below
  Units units = Units::human;  // exact: bytes and ns in full
  bool legend = true;
};

// Verdict last: it is what stays on the screen. Names are made printable; no line has trailing blanks.
std::string terminal_table(const ResultFile& file, const TerminalStyle& style);

}  // namespace kvreplay::reports
