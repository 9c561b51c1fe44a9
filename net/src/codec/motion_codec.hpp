// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/code_parameters.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <array>
#include <cstdint>
#include <optional>

#include <reckoner/net/archetype.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// The rounding steps and limits for motions of one archetype. The steps derive from the archetype's
/// thresholds, so that rounding errors stay below a tenth of the allowed error. When a budget changes the
/// threshold, the steps of a motion change with it by a power of two (its precision). The steps of the rates
/// also depend on how long the motion will be used (its reach).
struct Quantisation {
  double position_step_m = 0.0;               ///< m
  double velocity_step_mps = 0.0;             ///< m/s; this and the next two are for reach 0
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
  CodeParameters codes;         ///< of residuals; the client receives the server's
};

[[nodiscard]] RECKONER_NET_API Quantisation quantisation_for(const Archetype& archetype);

/// Range of precisions: 0 to 10. The steps are 8 times the archetype's at 0, equal at kUnitPrecision, and
/// 1/128 at 10.
inline constexpr std::uint8_t kUnitPrecision = 3;
inline constexpr std::uint8_t kMaxPrecision = 10;

/// Returns the precision for a threshold of `scale` times the archetype's.
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
  std::uint8_t reach = 1;  ///< steps of rates are 2^-reach, of accelerations 4^-reach times the archetype's
  std::uint8_t prior = 0;  ///< index into CodeParameters::priors
  /// Expected unpredicted movement within kShortestReachS: about 2^wander of the archetype's steps.
  std::uint8_t wander = 4;
  /// Expected unpredicted turn within kShortestReachS: about 2^twist of the archetype's steps.
  std::uint8_t twist = 4;
  bool bends = false;  ///< Motion::bends

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
  std::uint8_t link = 0;       ///< Motion::link; 0 and not sent unless the motion bends
  CodingMode coding_mode;      ///< how the motion is rounded

  /// True if all members are equal.
  bool operator==(const QuantisedState&) const = default;
};

/// Modulus of the teleport count on the wire. A receiver misses teleports only if it loses this many in a
/// row.
inline constexpr unsigned kTeleportModulus = 8;

/// True if the state is finite and within the archetype's limits, so that it can be sent.
[[nodiscard]] RECKONER_NET_API bool is_encodable(const State& state, const Quantisation& quantisation);

/// Returns the nearest state, on each axis separately, for which is_encodable() is true. A number that is not
/// finite becomes zero.
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

/// Converts steps to the state that a client shows, bit-identical on both ends. For free motions. Returns
/// nullopt if a number is beyond the archetype's limits.
[[nodiscard]] RECKONER_NET_API std::optional<State> dequantise(const QuantisedState& quantised,
                                                               const Quantisation& quantisation);

/// Writes a full encoding: any receiver that knows the archetype can decode it without a baseline.
RECKONER_NET_API void write_full(BitWriter& writer, const QuantisedState& state,
                                 const Quantisation& quantisation);

/// Reads a full encoding. Marks the reader as failed if it is malformed.
[[nodiscard]] RECKONER_NET_API QuantisedState read_full(BitReader& reader, const Quantisation& quantisation);

/// True if `state` can be written as a residual against `baseline`: both move freely in one frame, with no
/// teleport between them.
[[nodiscard]] RECKONER_NET_API bool can_refer(const QuantisedState& state, const QuantisedState& baseline);

/// Writes a residual: the difference between `state` and the prediction from `baseline` after `dt_s`. The
/// decoded result is exactly `state` for any baseline, but a good prediction needs fewer bits. `baseline`
/// must be decoded or a result of quantise(), and can_refer() must be true. Both ends must compute `dt_s`
/// alike: the difference of integer ticks divided by the tick rate.
RECKONER_NET_API void write_residual(BitWriter& writer, const QuantisedState& state,
                                     const QuantisedState& baseline, double dt_s,
                                     const Quantisation& quantisation);

/// Reads a residual. `baseline` must be the one that it was written against. Marks the reader as failed if
/// the residual is malformed or the baseline is on a route.
[[nodiscard]] RECKONER_NET_API QuantisedState read_residual(BitReader& reader, const QuantisedState& baseline,
                                                            double dt_s, const Quantisation& quantisation);

}  // namespace reckoner
