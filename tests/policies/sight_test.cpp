// What attention gets to see, told by rows that hold their own position: with equal weights the output of a query is
// the mean of the positions it sees, so a lost, doubled, stale or empty row shows as a plain number.
#include "tests/catch.hpp"
#include "tests/policies/support.hpp"

using namespace kvreplay::policies;
using namespace kvreplay::policies::testing;

namespace {

// A buffered cache with poisoned spare rows. call() gives the means seen by the fed queries, per layer.
class Watched {
 public:
  Watched(const std::string& spec, const std::string& layers, Count window, ElementType type = ElementType::fp32)
      : shape_(geometry(layers, window, type, 256)), cache_(policy(spec, setup())), caller_(*cache_) {}

  std::vector<std::vector<double>> call(const Tokens& tokens) {
    admission_ = cache_->admit(caller_.request(tokens, 0, 1));
    const Fed fed = feed(*cache_, tokens, admission_, shape_);
    cache_->finish();
    caller_.remember(tokens, admission_);
    finite = finite && fed.finite;
    as_cold = as_cold && fed.as_cold;
    std::vector<std::vector<double>> means;
    for (const FedLayer& layer : fed.layers) means.push_back(layer.means);
    return means;
  }
  // Means of the last query only.
  std::vector<double> last(const Tokens& tokens) {
    std::vector<double> means;
    for (const auto& layer : call(tokens)) means.push_back(layer.back());
    return means;
  }
  const Admission& admission() const { return admission_; }
  CachePolicy& cache() { return *cache_; }

  bool finite = true;
  bool as_cold = true;

 private:
  PolicySetup setup() const {
    PolicySetup result;
    result.geometry = shape_;
    result.buffers = true;
    result.poison_unused = true;
    return result;
  }

  CacheGeometry shape_;
  std::unique_ptr<CachePolicy> cache_;
  Caller caller_;
  Admission admission_;
};

using Means = std::vector<double>;

std::vector<std::string> exact_specs() {
  std::vector<std::string> specs;
  for (const std::string& spec : every_spec(100)) {
    if (spec.find("guidance-0.2") == std::string::npos) specs.push_back(spec);
  }
  return specs;
}

double local_mean(Count position, Count window) {
  const Count lowest = std::max<Count>(0, position - window + 1);
  return static_cast<double>(lowest + position) / 2;
}

}  // namespace

TEST_CASE("A sliding query sees its window with itself included, a global one everything before it") {
  for (const std::string& spec : exact_specs()) {
    INFO(spec);
    Watched cache(spec, "sg", 4);
    const auto means = cache.call(ids(6));
    CHECK(means[0] == Means{0, 0.5, 1, 1.5, 2.5, 3.5});
    CHECK(means[1] == Means{0, 0.5, 1, 1.5, 2, 2.5});
    Watched narrow(spec, "sg", 1);
    CHECK(narrow.call(ids(5))[0] == Means{0, 1, 2, 3, 4});
    CHECK((cache.as_cold && cache.finite && narrow.as_cold && narrow.finite));
  }
}

TEST_CASE("The window is full at W tokens and moves with the next one") {
  for (const std::string& spec : exact_specs()) {
    INFO(spec);
    Watched cache(spec, "s", 8);
    cache.call(ids(6));
    Means means;
    for (Count length = 7; length <= 10; ++length) means.push_back(cache.last(ids(length))[0]);
    CHECK(means == Means{3.0, 3.5, 4.5, 5.5});
    CHECK((cache.as_cold && cache.finite));
  }
}

TEST_CASE("The logical length comes from no layer's rows") {
  for (const std::string layers : {"sg", "gs"}) {
    for (const std::string spec : {"crop", "crop:sliding=window", "fixed:sliding=window", "fixed:write=before"}) {
      INFO(spec << " " << layers);
      Watched cache(spec, layers, 4);
      cache.call(ids(6));
      const Means means = cache.last(ids(7));
      CHECK(cache.admission().held_before == 6);
      CHECK(cache.admission().held_after == 7);
      CHECK(cache.admission().reused == 6);
      CHECK(means[layers == "sg" ? 0 : 1] == 4.5);  // 3..6
      CHECK(means[layers == "sg" ? 1 : 0] == 3.0);  // 0..6
      CHECK(cache.as_cold);
    }
  }
}

TEST_CASE("After everything was thrown away the list starts at position 0 again") {
  for (const std::string& spec : exact_specs()) {
    INFO(spec);
    Watched cache(spec, "sg", 8);
    cache.call(ids(6));
    const Means means = cache.last(ids(3, 7));
    CHECK(means == Means{1, 1});
    CHECK(cache.admission().held_after == 3);
    CHECK(cache.last(ids(3, 70)) == Means{1, 1});
    CHECK((cache.as_cold && cache.finite));
  }
}

TEST_CASE("A wrapped ring serves the rewind of one token and evaluates everything for two") {
  for (const std::string write : {"after", "before"}) {
    INFO(write);
    Watched one("fixed:sliding=window,capacity=64,write=" + write, "sg", 8);
    one.call(ids(20));
    CHECK(one.last(joined(ids(19), ids(1, 7))) == Means{15.5, 9.5});  // 12..19
    CHECK(one.admission().reused == 19);
    Watched two("fixed:sliding=window,capacity=64,write=" + write, "sg", 8);
    two.call(ids(20));
    CHECK(two.last(joined(ids(18), ids(1, 7))) == Means{14.5, 9});  // 11..18
    CHECK(two.admission().reused == 0);
    CHECK(two.admission().window_passed);
    CHECK(two.last(joined(joined(ids(18), ids(1, 7)), ids(1, 8))) == Means{15.5, 9.5});
    CHECK((one.as_cold && one.finite && two.as_cold && two.finite));
  }
}

TEST_CASE("A first prefill longer than the window is seen right, whatever the storage had room for") {
  for (const std::string& spec : exact_specs()) {
    INFO(spec);
    Watched cache(spec, "s", 4);
    CHECK(cache.call(ids(7))[0] == Means{0, 0.5, 1, 1.5, 2.5, 3.5, 4.5});
    CHECK(cache.last(ids(8)) == Means{5.5});
    Watched lazy(spec, "s", 4);  // starts with two slots
    lazy.call(ids(2));
    lazy.call(ids(7));
    CHECK(lazy.last(ids(8)) == Means{5.5});
    for (const Count first : {4, 5}) {
      Watched edge(spec, "s", 4);
      edge.call(ids(first));
      CHECK(edge.last(ids(first + 1)) == Means{static_cast<double>(first) - 1.5});
      CHECK((edge.as_cold && edge.finite));
    }
    CHECK((cache.as_cold && cache.finite && lazy.as_cold && lazy.finite));
  }
}

TEST_CASE("Outputs do not depend on how a prompt is cut") {
  for (const std::string& spec : exact_specs()) {
    for (const Count window : {1, 4, 8}) {
      for (const Count chunk : {1, 2, 3, 4, 5, 7, 8, 16}) {
        INFO(spec << " window " << window << " chunk " << chunk);
        Watched cache(spec, "sg", window);
        Means local, global;
        for (Count length = 0; length < 16;) {
          length = std::min<Count>(16, length + chunk);
          const auto means = cache.call(ids(length));
          const Count fed = static_cast<Count>(means[0].size());
          for (Count i = std::max<Count>(0, fed - (length - static_cast<Count>(local.size()))); i < fed; ++i) {
            local.push_back(means[0][static_cast<std::size_t>(i)]);
            global.push_back(means[1][static_cast<std::size_t>(i)]);
          }
        }
        for (Count length = 17; length <= 22; ++length) {
          const Means means = cache.last(ids(length));
          local.push_back(means[0]);
          global.push_back(means[1]);
        }
        Means local_expected, global_expected;
        for (Count position = 0; position < 22; ++position) {
          local_expected.push_back(local_mean(position, window));
          global_expected.push_back(static_cast<double>(position) / 2);
        }
        REQUIRE(local == local_expected);
        REQUIRE(global == global_expected);
        REQUIRE((cache.as_cold && cache.finite));
      }
    }
  }
}

TEST_CASE("A ring that is written before attention is fed in pieces it can hold") {
  Watched cache("fixed:sliding=window,write=before,capacity=64", "sg", 8);
  cache.call(ids(8));
  CHECK(cache.admission().piece_tokens == 0);  // fits without wrapping
  cache.call(ids(16));
  CHECK(cache.admission().piece_tokens == 1);  // 8 slots: B - W + 1
  cache.call(ids(17));
  CHECK(cache.admission().piece_tokens == 0);  // one token always fits
  CHECK(cache.as_cold);
  Watched linear("fixed:sliding=full,write=before,capacity=64", "sg", 8);
  linear.call(ids(20));
  CHECK(linear.admission().piece_tokens == 0);
  Watched after("fixed:sliding=window,write=after,capacity=64", "sg", 8);
  after.call(ids(20));
  CHECK(after.admission().piece_tokens == 0);
}

TEST_CASE("Unused slots never take part, poisoned or attended as zeros") {
  for (const std::string spec : {"fixed:capacity=8", "fixed:capacity=8,attend=capacity",
                                 "fixed:capacity=8,write=before", "fixed:capacity=8,write=before,attend=capacity"}) {
    INFO(spec);
    Watched cache(spec, "sg", 8);
    CHECK(cache.last(ids(3)) == Means{1, 1});
    CHECK((cache.as_cold && cache.finite));
  }
  for (const std::string spec : {"doubling", "doubling:attend=capacity,write=before"}) {
    Watched cache(spec, "sg", 8);
    cache.call(ids(2));
    CHECK(cache.last(ids(3)) == Means{1, 1});  // 6 slots
    CHECK(cache.last(ids(4)) == Means{1.5, 1.5});
    CHECK((cache.as_cold && cache.finite));
  }
}

TEST_CASE("Alternating prompts and decodes keep the window whole") {
  for (const std::string& spec : exact_specs()) {
    for (const Count window : {4, 8}) {
      for (const Count prompt : {Count{1}, window - 1, window, window + 1, Count{5}}) {
        INFO(spec << " window " << window << " prompts of " << prompt);
        Watched cache(spec, "sg", window);
        Count length = 0;
        for (int turn = 0; turn < 3; ++turn) {
          length += prompt;
          REQUIRE(cache.last(ids(length))[0] == local_mean(length - 1, window));
          for (int decode = 0; decode < 3; ++decode) {
            ++length;
            REQUIRE(cache.last(ids(length))[0] == local_mean(length - 1, window));
          }
        }
        REQUIRE((cache.as_cold && cache.finite));
      }
    }
  }
}

TEST_CASE("A window that never slides behaves as a global layer and takes no more rows than there are tokens") {
  for (const Count window : {10, 11, 64}) {
    for (const std::string spec : {"discard", "crop:sliding=window", "doubling"}) {
      INFO(spec << " window " << window);
      Watched cache(spec, "sg", window);
      for (Count length = 1; length <= 10; ++length) {
        const Means means = cache.last(ids(length));
        CHECK(means[0] == means[1]);
      }
      if (spec != "doubling")
        CHECK(slots(geometry("sg", window), cache.cache().ledger().counters().reserved_bytes) == PerKind{10, 10});
      CHECK((cache.as_cold && cache.finite));
    }
  }
}

TEST_CASE("Layer kinds are those of the list, not of any capacity") {
  for (const Count capacity : {12, 16, 64}) {
    Watched cache("fixed:sliding=window,capacity=" + std::to_string(capacity), "sgsg", 8);
    for (Count length = 1; length <= 12; ++length) {
      const double local = local_mean(length - 1, 8), global = local_mean(length - 1, 64);
      CHECK(cache.last(ids(length)) == Means{local, global, local, global});
    }
    CHECK(cache.as_cold);
  }
}

TEST_CASE("Rows are stored in the cache's element type") {
  for (const std::string& spec : exact_specs()) {
    INFO(spec);
    Watched cache(spec, "sg", 4, ElementType::bf16);
    cache.call(ids(6));
    CHECK(cache.last(ids(7)) == Means{4.5, 3});
    CHECK((cache.as_cold && cache.finite));
  }
}

TEST_CASE("Other sequences' rows are never seen after a switch") {
  for (const std::string& spec : exact_specs()) {
    if (spec.find("guidance") != std::string::npos) continue;  // refuses the way back
    INFO(spec);
    Watched cache(spec, "sg", 4);
    const Tokens a = joined(ids(5), ids(9, 50)), b = joined(ids(5), ids(12, 90));
    for (const Tokens& tokens : {a, b, a, joined(b, ids(1, 7)), joined(a, ids(2, 7))}) cache.call(tokens);
    CHECK((cache.as_cold && cache.finite));
  }
}
