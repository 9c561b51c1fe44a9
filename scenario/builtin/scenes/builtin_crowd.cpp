// SPDX-License-Identifier: MIT
#include "scenario/builtin/builtin_source.hpp"
#include "scenario/builtin/random.hpp"
#include "scenario/builtin/walker.hpp"

#include <algorithm>

namespace reckoner::scenario {
namespace {

constexpr double kAreaPerWalkerM2 = 16.0;

class Crowd : public BuiltinSource {
 public:
  Crowd(const std::string& noun, std::size_t count, std::uint64_t seed) : BuiltinSource(noun, count, seed) {
    walkers_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      walkers_.push_back(draw_walker(seed, i, square_side_m(kAreaPerWalkerM2)));
    }
  }

  Pose pose(std::size_t index, double time_s) const override { return walkers_[index].pose(time_s); }

 private:
  std::vector<Walker> walkers_;
};

// A crowd in which one walker arrives about every 1.5 s and stays for 5 s to 40 s. Five walkers are present
// at the start.
class Visitors final : public Crowd {
 public:
  Visitors(std::size_t count, std::uint64_t seed) : Crowd("visitor", count, seed) {
    constexpr double kBetweenArrivalsS = 1.5;
    constexpr std::size_t kThereAtStart = 5;
    for (std::size_t i = 0; i < count; ++i) {
      Random random(seed, hash(i, 1));
      SourceEntity& visitor = mutable_entity(i);
      const bool there = i < kThereAtStart;
      visitor.first_s =
          there ? 0.0 : kBetweenArrivalsS * (static_cast<double>(i - kThereAtStart) + random.uniform());
      visitor.last_s = visitor.first_s + random.uniform(5.0, 40.0);
      end_s_ = std::max(end_s_, visitor.last_s);
    }
  }

  double end_s() const override { return end_s_; }

 private:
  double end_s_ = 0.0;
};

}  // namespace

std::unique_ptr<Source> make_crowd(std::size_t count, std::uint64_t seed) {
  return std::make_unique<Crowd>("walker", count, seed);
}

std::unique_ptr<Source> make_visitors(std::size_t count, std::uint64_t seed) {
  return std::make_unique<Visitors>(count, seed);
}

}  // namespace reckoner::scenario
