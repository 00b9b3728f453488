// The cache of a pass that has none.
#pragma once

#include "policies/cache_policy.hpp"
#include "sim/model_config.hpp"

#include <span>
#include <stdexcept>

namespace kvreplay::sim {

// Keeps nothing: a piece sees its own rows and no others.
class NoCache final : public policies::CachePolicy {
 public:
  explicit NoCache(const policies::CacheGeometry& geometry) : geometry_(geometry) {}

  policies::KvView rows(Count /*layer*/, const policies::FreshRows& fresh) override {
    run_ = {fresh.first_position,
            fresh.count,
            fresh.keys,
            fresh.values,
            geometry_.num_kv_heads * geometry_.head_dim,
            geometry_.head_dim,
            policies::ElementType::fp32};
    return {std::span(&run_, 1), {}};
  }
  void store(Count /*layer*/, const policies::FreshRows& /*fresh*/) override {}
  void finish() override {}
  policies::Admission admit(const policies::Request& /*request*/) override { fail(); }
  const policies::MemoryLedger& ledger() const override { fail(); }

 private:
  [[noreturn]] static void fail() { throw std::logic_error("a cold pass has no cache to ask"); }

  policies::CacheGeometry geometry_;
  policies::KvRun run_;
};

}  // namespace kvreplay::sim
