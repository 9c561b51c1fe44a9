// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <glm/gtc/quaternion.hpp>
#include <glm/vec3.hpp>

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/state.hpp>
#include <reckoner/reckoning/velocity_source.hpp>

namespace reckoner {

/// Compares the velocities that a game gives with the positions that it gives, and replaces velocities that
/// cannot be right:
/// - An entity has a velocity or an acceleration, but its position has not changed for kStillS: it is at
///   rest. The game may have stopped moving it.
/// - An entity has no velocity, but its position changes: the velocity is estimated (VelocitySource).
/// It treats the angular velocity and the orientation likewise.
///
/// Estimates are differences of the last positions. One difference alone may be a jump, so an estimate begins
/// with the second one, and a difference that is much larger than the one before it is not used.
///
/// One instance per entity. A value; allocates nothing. Call check() with every state, in the order of time.
class RECKONER_RECKONING_API VelocityWatch {
 public:
  /// An entity whose position has not changed for this time is at rest, s. Games may move entities less often
  /// than the server ticks, but at least ten times a second.
  static constexpr double kStillS = 0.1;

  /// Returns `given` with the velocities to use. `time_s`: the time of the state, s, later than in the last
  /// call. `tick_s`: the usual time between two states of an entity that moves, s. A state that the game has
  /// not changed since the last call may contain the velocities that the last call returned. `late`: the
  /// caller is behind with its ticks, and the game may not have moved anything since the last one. An entity
  /// does not come to rest then.
  [[nodiscard]] State check(const State& given, VelocitySource source, double time_s, double tick_s,
                            bool late = false);

  /// Call this if the coordinates have changed or the entity has jumped. `state` is the state in the new
  /// coordinates, with the velocities that are in use. Estimates continue with these velocities.
  void restart(const State& state);

  /// What a game may leave at zero. Bits, so that the values of several entities can be combined.
  enum Missing : std::uint8_t { kNothing = 0, kVelocity = 1, kAngularVelocity = 2 };
  /// What was zero at the last check(), although the entity moved or turned.
  [[nodiscard]] std::uint8_t missing() const { return missing_; }

  /// True if an estimate has begun at the last check(). The velocities before it were zero because they were
  /// not known, so nothing should be learned from the difference.
  [[nodiscard]] bool begins() const { return begins_; }

 private:
  // Estimates the rate of change of a value from its differences.
  class Rate {
   public:
    // The value has changed by `change` since the last change. After more than `longest_s`, a new motion
    // begins.
    void changed(const glm::dvec3& change, double time_s, double longest_s);
    void unchanged(double time_s, double longest_s);
    void forget() { changes_ = 0; }
    void restart(const glm::vec3& rate);
    // After restart(): the value is as it was then, and it was right at `time_s`.
    void begin_at(double time_s) { changed_s_ = time_s; }
    [[nodiscard]] bool is_known() const { return changes_ >= 2; }
    // Per second; zero if it is not known.
    [[nodiscard]] glm::vec3 rate() const { return is_known() ? rate_ : glm::vec3{0.0f}; }

   private:
    double changed_s_ = -1e300;   // time of the last change, s
    float interval_s_ = 0.0f;     // time between the last two changes, s; 0: unknown
    glm::vec3 difference_{0.0f};  // the last change, per second
    glm::vec3 rate_{0.0f};
    std::uint8_t changes_ = 0;  // in a row, counted up to 2
  };

  // Notices values that stand still in spite of a rate.
  class Standing {
   public:
    // Returns true if the value has not changed for kStillS although it had a rate. `step_s`: the time since
    // the last call. `longest_s`: a game that gives no rate for longer than this lets the value rest.
    bool check(bool changes, bool has_rate, double step_s, double longest_s);

   private:
    float with_rate_s_ = 0.0f;
    float without_s_ = 0.0f;
  };

  glm::dvec3 position_{0.0};
  glm::quat orientation_{1.0f, 0.0f, 0.0f, 0.0f};
  double checked_s_ = 0.0;  // time of the last check(), s
  // The estimates that the last check() returned, or zero. A game that moves the entity less often leaves
  // them in its state.
  glm::vec3 returned_velocity_{0.0f};
  glm::vec3 returned_turn_{0.0f};
  Standing position_stands_;
  Standing orientation_stands_;
  bool begun_ = false;
  bool restarted_ = false;
  bool begins_ = false;
  std::uint8_t missing_ = kNothing;
  Rate linear_;
  Rate angular_;
};

}  // namespace reckoner
