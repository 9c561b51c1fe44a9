// SPDX-License-Identifier: MIT
#include "harness/methods/baselines/baselines.hpp"
#include "reckoning/src/motion/rotation.hpp"

#include <algorithm>
#include <deque>

namespace reckoner::harness {
namespace {

constexpr double kSourceInterpS = 0.1;        // cl_interp
constexpr double kSourceExtrapolateS = 0.25;  // cl_extrapolate_amount
constexpr std::size_t kMaxSnapshots = 64;

// Keeps snapshots in the order of time. Shows an instant in the past, computed from the two snapshots around
// it.
class Buffered : public Baseline {
 public:
  explicit Buffered(double delay_s) : delay_(delay_s) {}

  void receive(const BaselineUpdate& update, double) override {
    const auto at =
        std::lower_bound(snapshots_.begin(), snapshots_.end(), update.time_s,
                         [](const BaselineUpdate& kept, double time_s) { return kept.time_s < time_s; });
    if (at != snapshots_.end() && at->time_s == update.time_s) return;
    snapshots_.insert(at, update);
    if (snapshots_.size() > kMaxSnapshots) snapshots_.pop_front();
  }

  [[nodiscard]] std::optional<BaselineShown> show(double now_s) override {
    const double time_s = now_s - delay_;
    if (snapshots_.empty() || time_s < snapshots_.front().time_s) return std::nullopt;
    const auto after =
        std::upper_bound(snapshots_.begin(), snapshots_.end(), time_s,
                         [](double wanted_s, const BaselineUpdate& kept) { return wanted_s < kept.time_s; });
    const auto index = static_cast<std::size_t>(after - snapshots_.begin()) - 1;
    if (after == snapshots_.end()) return BaselineShown{beyond(index, time_s), time_s};
    const bool jump = after->teleports != snapshots_[index].teleports;
    return BaselineShown{jump ? snapshots_[index].state.pose() : between(index, time_s), time_s};
  }

  [[nodiscard]] double delay_s() const override { return delay_; }

 protected:
  // The pose between the snapshots `index` and `index` + 1. If `index` is the last snapshot, the pose after
  // it.
  [[nodiscard]] virtual Pose between(std::size_t index, double time_s) const = 0;
  [[nodiscard]] virtual Pose beyond(std::size_t index, double time_s) const = 0;

  [[nodiscard]] const BaselineUpdate& kept(std::size_t index) const { return snapshots_[index]; }
  [[nodiscard]] glm::quat turned(std::size_t index, double u) const {
    return slerp(snapshots_[index].state.orientation, snapshots_[index + 1].state.orientation, u);
  }
  [[nodiscard]] double share(std::size_t index, double time_s) const {
    return (time_s - snapshots_[index].time_s) / (snapshots_[index + 1].time_s - snapshots_[index].time_s);
  }
  // Finite-difference velocity of the step that ends at `index`. Zero at the first snapshot and after a
  // teleport.
  [[nodiscard]] glm::dvec3 step_velocity(std::size_t index) const {
    if (index == 0 || snapshots_[index - 1].teleports != snapshots_[index].teleports) return glm::dvec3{0.0};
    return (snapshots_[index].state.position - snapshots_[index - 1].state.position) /
           (snapshots_[index].time_s - snapshots_[index - 1].time_s);
  }

 private:
  double delay_;
  std::deque<BaselineUpdate> snapshots_;
};

// Snapshot interpolation as in Mirror (mirror-networking.com). It is linear between snapshots and keeps the
// last snapshot. Mirror also limits the drift of its clock, which is not needed here because the clock is
// perfect.
class LerpBuffer final : public Buffered {
 public:
  explicit LerpBuffer(const BaselineSetup& setup)
      : Buffered(setup.latency_s + setup.jitter_s + 2.0 * setup.interval_s) {}

 private:
  [[nodiscard]] Pose between(std::size_t index, double time_s) const override {
    const double u = share(index, time_s);
    const glm::dvec3& from = kept(index).state.position;
    return {from + (kept(index + 1).state.position - from) * u, turned(index, u)};
  }
  [[nodiscard]] Pose beyond(std::size_t index, double) const override { return kept(index).state.pose(); }
};

// Interpolation as in Valve's Source engine ("Source Multiplayer Networking"). The Hermite curve takes the
// velocity at each snapshot from the step that ends there. If updates are missing, this method extrapolates
// by up to 0.25 s. The client clock of Source is late by the latency, so the delay here is the delay of
// Source plus the latency.
class HermiteBuffer final : public Buffered {
 public:
  explicit HermiteBuffer(const BaselineSetup& setup)
      : Buffered(setup.latency_s + std::max(kSourceInterpS, 2.0 * setup.interval_s)) {}

 private:
  [[nodiscard]] Pose between(std::size_t index, double time_s) const override {
    const double u = share(index, time_s);
    const double dt = kept(index + 1).time_s - kept(index).time_s;
    const glm::dvec3& p0 = kept(index).state.position;
    const glm::dvec3& p1 = kept(index + 1).state.position;
    const glm::dvec3 m1 = (p1 - p0) / dt;
    const bool has_before = index > 0 && kept(index - 1).teleports == kept(index).teleports;
    const glm::dvec3 m0 = has_before ? step_velocity(index) : m1;
    const double uu = u * u;
    const double uuu = uu * u;
    return {p0 * (2.0 * uuu - 3.0 * uu + 1.0) + m0 * (dt * (uuu - 2.0 * uu + u)) +
                p1 * (3.0 * uu - 2.0 * uuu) + m1 * (dt * (uuu - uu)),
            turned(index, u)};
  }
  [[nodiscard]] Pose beyond(std::size_t index, double time_s) const override {
    const double dt = std::min(time_s - kept(index).time_s, kSourceExtrapolateS);
    return {kept(index).state.position + step_velocity(index) * dt, kept(index).state.orientation};
  }
};

}  // namespace

std::unique_ptr<Baseline> make_lerp_buffer(const BaselineSetup& setup) {
  return std::make_unique<LerpBuffer>(setup);
}
std::unique_ptr<Baseline> make_hermite_buffer(const BaselineSetup& setup) {
  return std::make_unique<HermiteBuffer>(setup);
}

}  // namespace reckoner::harness
