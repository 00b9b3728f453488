#include <cmath>
#include <limits>

#include "tests/catch.hpp"

// Guards that look for NaN and masks of -inf are worth nothing where the compiler may assume finite numbers. The values
// come through `volatile`, so that they are judged at run time, in the very build that ships.
TEST_CASE("this build sees NaN and infinity that arise at run time") {
  volatile float zero = 0.0F;
  const float nan = zero / zero;
  const float minus_infinity = -1.0F / zero;
  CHECK(std::isnan(nan));
  CHECK(nan != nan);
  CHECK_FALSE(nan == nan);
  CHECK(std::isinf(minus_infinity));
  CHECK(minus_infinity < std::numeric_limits<float>::lowest());
  CHECK(std::isnan(minus_infinity - minus_infinity));
}
