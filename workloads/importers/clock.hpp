// The times of a trace's rows, which must not run backwards.
#pragma once

#include <optional>

namespace kvreplay::workloads::importers {

class Clock {
 public:
  static constexpr const char* problem = "earlier than the row before; sort the file by time";

  // False: earlier than a row before. Rows without a time are always in order.
  bool is_in_order(std::optional<double> time) {
    if (!time) return true;
    if (latest_ && *time < *latest_) return false;
    latest_ = time;
    return true;
  }

  // Milliseconds since the first time asked for; `unit_ms` is the length of the trace's unit.
  std::optional<double> since_start(std::optional<double> time, double unit_ms) {
    if (!time) return std::nullopt;
    if (!start_) start_ = time;
    return (*time - *start_) * unit_ms;
  }

 private:
  std::optional<double> latest_, start_;
};

}  // namespace kvreplay::workloads::importers
