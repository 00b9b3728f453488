// Load and throttling as the system's files give them.

#include "sim/interference.hpp"

#include "tests/catch.hpp"

namespace kvreplay::sim {

TEST_CASE("throttled periods are read from both versions of cpu.stat") {
  CHECK(throttled_periods("usage_usec 5\nuser_usec 4\nnr_periods 10\nnr_throttled 3\nthrottled_usec 99\n") == 3);
  CHECK(throttled_periods("nr_periods 0\nnr_throttled 0\nthrottled_time 0") == 0);
  CHECK_FALSE(throttled_periods("").has_value());
  CHECK_FALSE(throttled_periods("nr_throttled \n").has_value());
  CHECK_FALSE(throttled_periods("nr_throttled_x 3\n").has_value());
}

TEST_CASE("the load is the first number of loadavg") {
  CHECK(load_of("4.50 3.00 2.00 1/200 77\n") == 4.5);
  CHECK_FALSE(load_of("").has_value());
  CHECK_FALSE(load_of("unknown").has_value());
}

}  // namespace kvreplay::sim
