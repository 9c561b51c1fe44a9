// SPDX-License-Identifier: MIT
#include "harness/methods/baselines/baselines.hpp"
#include "reckoning/src/blend/caldwell_spline.hpp"

#include <reckoner/reckoning/motion.hpp>

namespace reckoner::harness {
namespace {

// The article does not say how large the number of frames T is. The table shows the figures over the recorded
// traces (intercity, 10 updates a second) for some values of T. They are ratios to the figures of "snap":
//
//   frames                1    6    10   20
//   p95 error             3.5  8.4  8.6  18
//   excess acceleration   9.5  7.4  4.6  2.7
//
// Among the values above 1, which blend, 10 is the best compromise between error and acceleration.
constexpr double kFrames = 10.0;

// N. Caldwell, "Defeating Lag with Cubic Splines" (GameDev.net, 2000), followed literally. Points 2 and 3 of
// the spline are as far from its ends as the motion travels in one second. The state in the packet is
// extrapolated by T frames, whatever its age is. After the end of the spline, the entity moves on with the
// acceleration from the packet.
//
// This code takes "starting velocity" to be the velocity of the motion in use. The velocity along the spline
// is 3/T times as high, so it would grow with every packet that arrives before the end of a spline.
// Orientation is extrapolated without blending.
class Article final : public Baseline {
 public:
  explicit Article(const BaselineSetup& setup) : duration_s_(kFrames / setup.frame_rate_hz) {}

  void receive(const BaselineUpdate& update, double now_s) override {
    const bool first = !newest_;
    const glm::dvec3 shown = first ? glm::dvec3{0.0} : position(now_s);
    const glm::dvec3 velocity = first ? glm::dvec3{0.0} : glm::dvec3(drift(now_s).velocity);
    if (!newest_.store(update)) return;
    arrived_s_ = now_s;
    on_spline_ = !first && !newest_.teleported();
    const State end = extrapolate(update.state, duration_s_);
    spline_ = spline_through(shown, shown + velocity, end.position - glm::dvec3(end.velocity), end.position,
                             duration_s_);
  }

  [[nodiscard]] std::optional<BaselineShown> show(double now_s) override {
    if (!newest_) return std::nullopt;
    return BaselineShown{{position(now_s), drift(now_s).orientation}, now_s};
  }

 private:
  [[nodiscard]] State drift(double now_s) const {
    return extrapolate(newest_.get().state, now_s - arrived_s_);
  }
  [[nodiscard]] bool on_spline(double now_s) const { return on_spline_ && now_s < arrived_s_ + duration_s_; }
  [[nodiscard]] glm::dvec3 position(double now_s) const {
    return on_spline(now_s) ? spline_.position(now_s - arrived_s_) : drift(now_s).position;
  }

  double duration_s_;
  NewestUpdate newest_;
  double arrived_s_ = 0.0;
  bool on_spline_ = false;
  CaldwellSpline spline_;
};

}  // namespace

std::unique_ptr<Baseline> make_article(const BaselineSetup& setup) {
  return std::make_unique<Article>(setup);
}

}  // namespace reckoner::harness
