// Lists and ranges of option values: what they stand for, worked by hand, and what is refused.

#include "policies/sweep.hpp"

#include "policies/option_error.hpp"
#include "policies/registry.hpp"
#include "tests/catch.hpp"

#include <string>
#include <vector>

namespace kvreplay::policies {
namespace {

using Texts = std::vector<std::string>;

std::string refusal_of(const std::string& text) {
  try {
    (void)sweep(text);
  } catch (const OptionError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("A text without lists stands for itself, whatever it says") {
  for (const std::string text :
       {"crop", "fixed:capacity=512", "fixed:capacity=4,keep=seed", "nobody:x=1", "fixed:", "fixed:=4",
        "fixed:capacity=-5", "fixed:capacity=", "guidance-0.2+transformers-4.47"}) {
    CHECK(sweep(text) == Texts{text});
  }
}

TEST_CASE("A value without a key is one more value of the key before") {
  CHECK(sweep("fixed:capacity=64,128") == Texts{"fixed:capacity=64", "fixed:capacity=128"});
  CHECK(sweep("fixed:capacity=64,128,keep=seed,exact") ==
        Texts{"fixed:capacity=64,keep=seed", "fixed:capacity=64,keep=exact", "fixed:capacity=128,keep=seed",
              "fixed:capacity=128,keep=exact"});
}

TEST_CASE("Ranges multiply or add up to the last number within their end") {
  CHECK(sweep("fixed:capacity=128-1024*2") ==
        Texts{"fixed:capacity=128", "fixed:capacity=256", "fixed:capacity=512", "fixed:capacity=1024"});
  CHECK(sweep("fixed:capacity=100-450+100,7") == Texts{"fixed:capacity=100", "fixed:capacity=200", "fixed:capacity=300",
                                                       "fixed:capacity=400", "fixed:capacity=7"});
  CHECK(sweep("fixed:capacity=5-5*2") == Texts{"fixed:capacity=5"});
  CHECK(sweep("fixed:capacity=1-1000+1").size() == 1'000);
  CHECK(sweep("fixed:capacity=1-1000000000*1000000000") == Texts{"fixed:capacity=1", "fixed:capacity=1000000000"});
}

TEST_CASE("Ranges that do not grow and sweeps without measure are refused") {
  CHECK(refusal_of("fixed:capacity=5-10") ==
        "'fixed:capacity=5-10': a range is from-to*factor or from-to+step (512-4096*2), not '5-10'");
  CHECK(refusal_of("fixed:capacity=5-10*") ==
        "'fixed:capacity=5-10*': a range is from-to*factor or from-to+step (512-4096*2), not '5-10*'");
  for (const std::string range : {"10-5+1", "5-10*1", "5-10+0", "0-10*2", "5-10*0"}) {
    CHECK(refusal_of("fixed:capacity=" + range) == "'fixed:capacity=" + range + "': the range '" + range +
                                                       "' does not grow from its first number, 1 or more, to its last");
  }
  for (const std::string text :
       {"fixed:capacity=1-1001+1", "fixed:capacity=1-999999999+1", "reset:capacity=1-40+1,keep=1-40+1"}) {
    CHECK(refusal_of(text) == "'" + text + "' stands for more than 1000 policies; narrow its lists and ranges");
  }
}

TEST_CASE("What a sweep gives is checked like any specification") {
  const Texts texts = sweep("fixed:capacity=64,oops");
  CHECK_NOTHROW(parse_policy(texts.at(0)));
  CHECK_THROWS_AS(parse_policy(texts.at(1)), OptionError);
}

}  // namespace kvreplay::policies
