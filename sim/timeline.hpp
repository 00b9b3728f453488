// Keeps a bounded number of a replay's samples: one per evaluation while they fit, else per stretch of evaluations the
// one that held the most memory.
#pragma once

#include "sim/replay.hpp"

#include <vector>

namespace kvreplay::sim {

class Timeline : public ReplayListener {
 public:
  static constexpr Count max_points = 2000;

  explicit Timeline(Count num_evaluations) : stretch_((num_evaluations + max_points - 1) / max_points) {
    if (stretch_ < 1) stretch_ = 1;
  }

  bool wants_samples() const override { return true; }
  void sample(const reports::Sample& sample) override {
    const bool new_stretch = points_.empty() || sample.evaluation / stretch_ != points_.back().evaluation / stretch_;
    if (new_stretch) {
      points_.push_back(sample);
    } else if (sample.transient_bytes > points_.back().transient_bytes) {
      points_.back() = sample;
    }
  }

  const std::vector<reports::Sample>& points() const { return points_; }

 private:
  Count stretch_;
  std::vector<reports::Sample> points_;
};

// Every sample, for explain.
class AllSamples : public ReplayListener {
 public:
  bool wants_samples() const override { return true; }
  void sample(const reports::Sample& sample) override { samples.push_back(sample); }

  std::vector<reports::Sample> samples;
};

}  // namespace kvreplay::sim
