// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/wire/bit_stream.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <reckoner/net/archetype.hpp>
#include <reckoner/net/call_result.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// Largest acceleration that a motion or a motion along a route can have, m/s^2.
inline constexpr double kMaxAccelerationMps2 = 1e5;

/// The fields of a residual, in the order in which they are sent. Each field has its own prefix code. The
/// vertical axis has fields of its own, because an entity on a floor moves differently along the floor than
/// up and down. Where two or three fields are similar, each one helps to predict the next.
enum class CodeField : std::uint8_t {
  position_x,
  position_y,
  velocity_x,
  velocity_y,
  acceleration_x,
  acceleration_y,
  position_z,
  velocity_z,
  acceleration_z,
  orientation_1,  ///< the three smallest quaternion components, in order
  orientation_2,
  orientation_3,
  turn_z,  ///< angular velocity
  turn_x,
  turn_y,
};
inline constexpr std::size_t kCodeFields = 15;

/// Computes the order of a prefix code from the expected size of a number: (slope * c + offset) / 16, at
/// least 0. c is the number of half octaves of the expected size.
struct OrderRule {
  static constexpr std::uint8_t kMaxSlope = 31;   ///< largest slope that can be sent
  static constexpr std::int8_t kMinOffset = -64;  ///< smallest offset that can be sent
  static constexpr std::int8_t kMaxOffset = 63;   ///< largest offset that can be sent

  std::int8_t offset = 0;  ///< offset of the order, in sixteenths
  /// Increase of the order for each half octave of the expected size, in sixteenths.
  std::uint8_t slope = 8;

  /// True if both members are equal.
  bool operator==(const OrderRule&) const = default;
};

/// Predicts the rates of an entity from its earlier motion. The gains are in sixteenths. `dp` is the
/// difference between the actual and the expected position, `dv` the difference of the velocities, and `dt`
/// the age of the baseline.
struct Prior {
  /// Acceleration = [0] * the baseline's acceleration + [1] * dp / dt^2 + [2] * dv / dt + [3] * velocity / s.
  std::array<std::int8_t, 4> horizontal{};
  std::array<std::int8_t, 4> vertical{};  ///< gains of `horizontal`, for the vertical axis
  /// Angular velocity about a horizontal axis = [0] * the baseline's angular velocity + [1] * unpredicted
  /// turn / dt.
  std::array<std::int8_t, 2> tilt{};
  std::array<std::int8_t, 2> yaw{};  ///< gains of `tilt`, for the vertical axis
  /// Variance of unpredicted turns about the body's y axis (pitch, if the body faces along x), relative to
  /// turns about the vertical axis: 2^-pitch_share.
  std::uint8_t pitch_share = 2;
  std::uint8_t other_share = 4;  ///< relative variance of turns about any axis: 2^-other_share

  /// True if all gains and shares are equal.
  bool operator==(const Prior&) const = default;
};
inline constexpr std::size_t kPriorCount = 4;

/// The prefix codes and the forecasts for an archetype's residuals. They are fixed when a client joins, so
/// that clients can share encoded bit strings.
///
/// The defaults were fitted to fifteen recordings (people, cars, balls, aircraft, heads and hands) and all
/// built-in scenarios, with equal weights and baselines 0.08 s and 0.22 s old. They are relative to the steps
/// of Quantisation, so they fit any threshold.
struct CodeParameters {
  static constexpr std::uint8_t kMaxShare = 15;  ///< largest value of Prior::pitch_share and other_share

  /// Indexed by CodeField.
  std::array<OrderRule, kCodeFields> orders{{{-3, 9},
                                             {1, 9},
                                             {16, 7},
                                             {7, 7},
                                             {14, 6},
                                             {0, 7},
                                             {-6, 7},
                                             {19, 7},
                                             {6, 7},
                                             {14, 9},
                                             {5, 9},
                                             {10, 10},
                                             {2, 10},
                                             {-8, 9},
                                             {-4, 9}}};
  /// Velocity = the forecast + [0] * dp / dt + [1] * the baseline's acceleration * dt. Gains in sixteenths.
  std::array<std::int8_t, 2> velocity{27, -3};
  /// Indexed by CodingMode::prior.
  std::array<Prior, kPriorCount> priors{{
      {{8, -15, 11, -8}, {1, 0, 1, -47}, {3, 3}, {1, 2}, 2, 6},  // people who walk and look around freely
      {{17, -51, 40, 0}, {16, -42, 28, -2}, {16, 19}, {15, 21}, 3, 3},    // bodies with inertia
      {{-10, 21, -18, -6}, {-6, 15, -12, -13}, {11, 8}, {13, 15}, 0, 0},  // trembling heads and hands
      {{1, -2, 2, -126}, {0, 0, 0, -64}, {3, 8}, {3, 8}, 1, 2},           // bodies that stop suddenly
  }};

  /// True if all parameters are equal.
  bool operator==(const CodeParameters&) const = default;
};

/// The rounding steps and limits for motions of one archetype. The steps derive from the archetype's
/// thresholds, so that rounding errors stay below a tenth of the allowed error. When a budget changes the
/// threshold, the steps of a motion change with it by a power of two (its precision). The steps of the rates
/// also depend on how long the motion will be used (its reach).
struct Quantisation {
  double position_step_m = 0.0;               ///< m
  double velocity_step_mps = 0.0;             ///< m/s; this step and the next two apply to reach 0
  double acceleration_step_mps2 = 0.0;        ///< m/s^2
  double angular_velocity_step_rps = 0.0;     ///< rad/s
  double route_distance_step_m = 0.0;         ///< m
  double route_speed_step_mps = 0.0;          ///< m/s
  double route_acceleration_step_mps2 = 0.0;  ///< m/s^2
  /// Bits of each of the three smallest components, 9 to 13. 0: no orientation.
  unsigned orientation_bits = 0;
  double max_speed_mps = 0.0;   ///< m/s; faster motions are refused
  double world_size_m = 0.0;    ///< m; positions further from the origin are refused
  bool never_reverses = false;  ///< how free motions are extrapolated; does not affect their encoding
  QuietGap quiet{};             ///< MotionTransition::quiet; does not affect the encoding
  /// The archetype's floor or null, for Motion::floor; does not affect the encoding. Not owned.
  const Floor* floor = nullptr;
  const Walls* walls = nullptr;  ///< the archetype's walls or null, for Motion::walls; not owned
  CodeParameters codes;          ///< parameters of residuals; the client receives them from the server
};

[[nodiscard]] RECKONER_NET_API Quantisation quantisation_for(const Archetype& archetype);

/// Precisions are 0 to 10. With precision 0, the steps are 8 times the archetype's steps; with kUnitPrecision
/// they are equal to them; with 10 they are 1/128 of them.
inline constexpr std::uint8_t kUnitPrecision = 3;
inline constexpr std::uint8_t kMaxPrecision = 10;

/// Returns the precision for a threshold of `scale` times the archetype's threshold.
[[nodiscard]] RECKONER_NET_API std::uint8_t precision_for(double scale);

/// A motion must stay accurate until kShortestReachS * 2^reach after its time stamp, s.
inline constexpr double kShortestReachS = 0.15;
inline constexpr std::uint8_t kMaxReach = 3;

/// Returns the reach for a motion that is used until `horizon_s` after its time stamp. The horizon is the
/// delay until clients show the motion, plus the gap until the next motion.
[[nodiscard]] RECKONER_NET_API std::uint8_t reach_for(double horizon_s);

/// How a motion is rounded and forecast. A receiver needs it before everything else, and usually knows it
/// from the baseline. The sender chooses it to save bits; the receiver can decode every choice.
struct CodingMode {
  /// Steps are 2^(kUnitPrecision - precision) times the archetype's.
  std::uint8_t precision = kUnitPrecision;
  std::uint8_t reach =
      1;  ///< steps of rates are 2^-reach times the archetype's, steps of accelerations 4^-reach times
  std::uint8_t prior = 0;  ///< index into CodeParameters::priors
  /// Expected unpredicted movement within kShortestReachS: about 2^wander of the archetype's steps.
  std::uint8_t wander = 4;
  /// Expected unpredicted turn within kShortestReachS: about 2^twist of the archetype's steps.
  std::uint8_t twist = 4;
  bool bends = false;  ///< MotionTransition::bends
  /// The motion has no acceleration, and sends none. A motion that bends is never steady.
  bool steady = false;

  /// True if all members are equal.
  bool operator==(const CodingMode&) const = default;
};
inline constexpr std::uint8_t kMaxWander = 7;
inline constexpr std::uint8_t kMaxTwist = 7;

/// A motion on a route, in whole steps. The distance is within one period of the route.
struct QuantisedRouteState {
  RouteId route;                  ///< null: not on a route
  std::int32_t distance = 0;      ///< steps of Quantisation::route_distance_step_m
  std::int32_t speed = 0;         ///< steps of Quantisation::route_speed_step_mps
  std::int32_t acceleration = 0;  ///< steps of Quantisation::route_acceleration_step_mps2

  /// True if all members are equal.
  bool operator==(const QuantisedRouteState&) const = default;
};

/// A motion in whole steps, exactly as it is sent. On a route, all members of the free state stay zero and
/// are not sent.
struct QuantisedState {
  EntityId frame;             ///< entity whose frame the motion is in; null: the world
  QuantisedRouteState along;  ///< motion on a route, if it is on one

  std::array<std::int64_t, 3> position{};          ///< steps along x, y and z
  std::array<std::int32_t, 3> velocity{};          ///< steps along x, y and z
  std::array<std::int32_t, 3> acceleration{};      ///< steps along x, y and z
  std::array<std::int32_t, 3> angular_velocity{};  ///< steps about x, y and z
  std::array<std::int16_t, 3> orientation{};       ///< the three smallest components, in order
  std::uint8_t largest = 0;    ///< index of the fourth component in w, x, y, z; it is made positive
  std::uint8_t teleports = 0;  ///< modulo kTeleportModulus
  std::uint8_t link = 0;       ///< MotionTransition::link; 0 and not sent unless the motion bends
  bool sudden = false;     ///< MotionTransition::sudden; false and not sent unless the coding mode is steady
  CodingMode coding_mode;  ///< how the motion is rounded

  /// True if all members are equal.
  bool operator==(const QuantisedState&) const = default;
};

/// Modulus of the teleport count on the wire. A receiver misses teleports only if it loses this many in a
/// row.
inline constexpr unsigned kTeleportModulus = 8;

/// Returns why a state cannot be sent: not_finite, outside_world, too_fast or beyond_limits. `none` if it
/// can.
[[nodiscard]] RECKONER_NET_API CallError find_unencodable(const State& state,
                                                          const Quantisation& quantisation);
/// True if the state is finite and within the archetype's limits, so that it can be sent.
[[nodiscard]] RECKONER_NET_API bool is_encodable(const State& state, const Quantisation& quantisation);

/// Returns the nearest state for which is_encodable() is true. Each axis is changed by itself. A number that
/// is not finite becomes zero.
[[nodiscard]] RECKONER_NET_API State nearest_encodable(const State& state, const Quantisation& quantisation);

/// Rounds a state to steps. The position is rounded to the nearest step. Each rate is rounded so that it
/// cancels, at the reach, the errors of the numbers before it; zero stays zero. If the numbers are too large
/// for the steps of `coding_mode`, coarser steps are used. is_encodable() must be true for the state.
[[nodiscard]] RECKONER_NET_API QuantisedState quantise(const State& state, std::uint8_t teleports,
                                                       const CodingMode& coding_mode,
                                                       const Quantisation& quantisation);
/// Rounds a state to steps, with the default coding mode at the given precision.
[[nodiscard]] RECKONER_NET_API QuantisedState quantise(const State& state, std::uint8_t teleports,
                                                       std::uint8_t precision,
                                                       const Quantisation& quantisation);

/// Converts the steps of a free motion to the state that a client shows. Both ends compute identical bits.
/// Returns nullopt if a number is beyond the archetype's limits.
[[nodiscard]] RECKONER_NET_API std::optional<State> dequantise(const QuantisedState& quantised,
                                                               const Quantisation& quantisation);

/// Writes a full encoding: any receiver that knows the archetype can decode it without a baseline.
RECKONER_NET_API void write_full(BitWriter& writer, const QuantisedState& state,
                                 const Quantisation& quantisation);

/// Reads a full encoding. Marks the reader as failed if it is malformed.
[[nodiscard]] RECKONER_NET_API QuantisedState read_full(BitReader& reader, const Quantisation& quantisation);

/// True if `state` can be written as a residual against `baseline`. Both must be free motions in the same
/// frame, and no teleport may lie between them.
[[nodiscard]] RECKONER_NET_API bool can_refer(const QuantisedState& state, const QuantisedState& baseline);

/// Writes a residual: the difference between `state` and the prediction from `baseline` after `dt_s`. The
/// decoded result is exactly `state` for any baseline, but a good prediction needs fewer bits. `baseline`
/// must be decoded or a result of quantise(), and can_refer() must be true. Both ends must compute `dt_s`
/// likewise, as the difference of integer ticks divided by the tick rate.
RECKONER_NET_API void write_residual(BitWriter& writer, const QuantisedState& state,
                                     const QuantisedState& baseline, double dt_s,
                                     const Quantisation& quantisation);

/// Reads a residual. `baseline` must be the one that it was written against. Marks the reader as failed if
/// the residual is malformed or the baseline is on a route.
[[nodiscard]] RECKONER_NET_API QuantisedState read_residual(BitReader& reader, const QuantisedState& baseline,
                                                            double dt_s, const Quantisation& quantisation);

// The owned section of a client's datagram. For every motion of an entity that the client owns, it contains a
// set bit, the head, and the motion. The motion is in full or against an earlier motion of the same entity
// and term. A clear bit ends the section.

/// Ownership terms are counted modulo this.
inline constexpr unsigned kTerms = 16;

/// Head of an owner's motion.
struct OwnedHead {
  std::uint32_t slot = 0;                      ///< the entity's slot
  std::uint8_t term = 0;                       ///< ownership term; motions of an earlier term are invalid
  std::uint16_t tick = 0;                      ///< low 16 bits of the tick of its time stamp
  std::optional<std::uint32_t> reference_age;  ///< ticks from the baseline to this motion; nullopt: in full
};

/// Writes a head and the set bit before it. `previous_slot` is the slot of the previous head, or -1.
RECKONER_NET_API void write(BitWriter& writer, const OwnedHead& head, std::int64_t previous_slot);

/// Reads the next head. Returns nullopt after the last one. Marks the reader as failed if it is malformed.
[[nodiscard]] RECKONER_NET_API std::optional<OwnedHead> read_owned_head(BitReader& reader,
                                                                        std::int64_t previous_slot);

/// Learns from an entity's own motions which coding mode sends the next motion in the fewest bits. It chooses
/// the prior, the expected deviation from the forecast, and the reach. It changes its choice rarely, because
/// a change costs bits.
///
/// One per entity. A value type; never allocates.
class RECKONER_NET_API CodingModeChooser {
 public:
  /// Learns from a motion and a baseline published `dt_s` before it. The baseline should be about one round
  /// trip older, like one that a client has. A few calls a second are enough. can_refer() must be true.
  void observe(const QuantisedState& state, const QuantisedState& baseline, double dt_s,
               const Quantisation& quantisation);

  /// Returns the coding mode for a motion published `gap_s` after the previous one (0: the first motion).
  /// Clients show the motion `delay_s` after its time stamp. Call once for each motion.
  [[nodiscard]] CodingMode choose(std::uint8_t precision, double delay_s, double gap_s);

 private:
  std::array<float, kPriorCount> costs_{};  // bits; exponential means
  float wander_ = 4.0f;                     // exponential means of octaves
  float twist_ = 4.0f;
  float gap_s_ = 0.0f;
  float rate_ = 1e9f;  // weight of the newest observation; the first one replaces the initial means
  float gap_rate_ = 1e9f;
  CodingMode coding_mode_{.reach = 0};
};

}  // namespace reckoner
