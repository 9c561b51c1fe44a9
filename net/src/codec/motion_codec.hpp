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

/// How finely the motions of one archetype travel. Derived from its thresholds, so that the error of rounding
/// stays below a tenth of what may be off anyway: bits are spent where they can be seen. Where a budget moves
/// the threshold in force, the steps of a motion follow it by a power of two, its precision; those of its
/// rates follow how long it is to be used, its reach.
struct Quantisation {
  double position_step_m = 0.0;               ///< m
  double velocity_step_mps = 0.0;             ///< at reach 0, as are the next two
  double acceleration_step_mps2 = 0.0;        ///< m/s^2
  double angular_velocity_step_rps = 0.0;     ///< rad/s
  double route_distance_step_m = 0.0;         ///< m
  double route_speed_step_mps = 0.0;          ///< m/s
  double route_acceleration_step_mps2 = 0.0;  ///< m/s^2
  unsigned orientation_bits = 0;  ///< of each of the three smallest components, 9 to 13; 0: no orientation
  double max_speed_mps = 0.0;     ///< limits, for refusing what cannot be
  double world_size_m = 0.0;      ///< m
  bool never_reverses = false;    ///< how free motions are carried on; no matter of their encoding
  CodeParameters codes;           ///< of residuals; the server's travel to the client
};

[[nodiscard]] RECKONER_NET_API Quantisation quantisation_for(const Archetype& archetype);

/// Precisions that can travel: 0 to 10, from steps eight times as large as the archetype's to 1/128 of them.
inline constexpr std::uint8_t kUnitPrecision = 3;
inline constexpr std::uint8_t kMostPrecision = 10;

/// The precision for a threshold that is `scale` times the archetype's.
[[nodiscard]] RECKONER_NET_API std::uint8_t precision_for(double scale);

/// How long after its time stamp a motion is still to be right: kShortestReachS times 2^reach.
inline constexpr double kShortestReachS = 0.15;
inline constexpr std::uint8_t kMostReach = 3;

/// The reach for a motion that is used until `horizon_s` after its time stamp: the delay until clients show
/// it, and the gap until the next.
[[nodiscard]] RECKONER_NET_API std::uint8_t reach_for(double horizon_s);

/// How a motion is rounded, and forecast from others: what the receiver has to know before anything else, and
/// mostly knows from the baseline. Chosen by the sender for the entity's own good; any choice is right.
struct CodingMode {
  std::uint8_t precision = kUnitPrecision;  ///< steps are 2^(kUnitPrecision - precision) of the archetype's
  std::uint8_t reach = 1;  ///< steps of rates are 2^-reach, of accelerations 4^-reach of the archetype's
  std::uint8_t prior = 0;  ///< which of CodeParameters::priors forecasts
  std::uint8_t wander =
      4;  ///< unforeseen movement after kShortestReachS is about 2^wander of the archetype's steps
  std::uint8_t twist = 4;  ///< the same of turns
  bool bends = false;      ///< as Motion's

  /// Member by member.
  bool operator==(const CodingMode&) const = default;
};
inline constexpr std::uint8_t kMostWander = 7;
inline constexpr std::uint8_t kMostTwist = 7;

/// A motion on a route, as whole numbers of steps. The distance is within one period of the route.
struct QuantisedAlong {
  RouteId route;                  ///< null: not on a route
  std::int32_t distance = 0;      ///< steps of Quantisation::route_distance_step_m
  std::int32_t speed = 0;         ///< steps of Quantisation::route_speed_step_mps
  std::int32_t acceleration = 0;  ///< steps of Quantisation::route_acceleration_step_mps2

  /// Member by member.
  bool operator==(const QuantisedAlong&) const = default;
};

/// A motion as whole numbers of steps: exactly what travels. On a route, everything about the free state
/// stays zero and does not travel.
struct QuantisedState {
  EntityId frame;        ///< the entity in whose frame everything is; null: the world
  QuantisedAlong along;  ///< where it is on a route, if it is

  std::array<std::int64_t, 3> position{};          ///< steps along x, y and z
  std::array<std::int32_t, 3> velocity{};          ///< steps along x, y and z
  std::array<std::int32_t, 3> acceleration{};      ///< steps along x, y and z
  std::array<std::int32_t, 3> angular_velocity{};  ///< steps about x, y and z
  std::array<std::int16_t, 3> orientation{};       ///< the three smallest components, in order
  std::uint8_t largest = 0;                        ///< which of w, x, y, z is the fourth, made positive
  std::uint8_t teleports = 0;                      ///< modulo kTeleportModulus
  std::uint8_t link = 0;                           ///< as Motion's; 0 and absent unless it bends
  CodingMode coding_mode;                          ///< how all that is rounded

  /// Member by member.
  bool operator==(const QuantisedState&) const = default;
};

/// Teleports are counted modulo this on the wire: so many would have to be lost in a row to be missed.
inline constexpr unsigned kTeleportModulus = 8;

/// True if the state is finite and within the archetype's limits, and so can be sent.
[[nodiscard]] RECKONER_NET_API bool can_travel(const State& state, const Quantisation& quantisation);

/// The state nearest to this one, along each axis by itself, that can_travel(). What is not finite becomes
/// zero.
[[nodiscard]] RECKONER_NET_API State nearest_that_travels(const State& state,
                                                          const Quantisation& quantisation);

/// Rounds the position to the nearest step and each rate so that what those before it are off is undone at
/// the reach; what is zero stays zero. What is too large for the steps of `coding_mode` gets coarser ones.
/// The state must be can_travel().
[[nodiscard]] RECKONER_NET_API QuantisedState quantise(const State& state, std::uint8_t teleports,
                                                       const CodingMode& coding_mode,
                                                       const Quantisation& quantisation);
/// The same with a middling reach.
[[nodiscard]] RECKONER_NET_API QuantisedState quantise(const State& state, std::uint8_t teleports,
                                                       std::uint8_t precision,
                                                       const Quantisation& quantisation);

/// What a client makes of a free state, to the last bit. Nothing if a number lies beyond the archetype's
/// limits.
[[nodiscard]] RECKONER_NET_API std::optional<State> dequantise(const QuantisedState& quantised,
                                                               const Quantisation& quantisation);

/// The full encoding: self-contained, for any receiver that knows the archetype.
RECKONER_NET_API void write_full(BitWriter& writer, const QuantisedState& state,
                                 const Quantisation& quantisation);

/// Reads a full encoding; the reader is failed if it is malformed.
[[nodiscard]] RECKONER_NET_API QuantisedState read_full(BitReader& reader, const Quantisation& quantisation);

/// True if `state` can be written as a residual against `baseline`: both move freely in the same frame, and
/// no teleport lies between them.
[[nodiscard]] RECKONER_NET_API bool can_refer(const QuantisedState& state, const QuantisedState& baseline);

/// The residual encoding: what the bit-exact predictor, carrying `baseline` forward by `dt_s`, does not
/// foresee. The result is exactly `state` whatever the baseline, but the nearer it is the less it takes.
/// `baseline` must have been decoded or made by quantise(), can_refer() hold, and `dt_s` be computed alike at
/// both ends: the difference of integer ticks over the tick rate.
RECKONER_NET_API void write_residual(BitWriter& writer, const QuantisedState& state,
                                     const QuantisedState& baseline, double dt_s,
                                     const Quantisation& quantisation);

/// Reads a residual against the baseline that it was written against; the reader is failed if it is
/// malformed. A baseline on a route, to which nothing refers, fails it too.
[[nodiscard]] RECKONER_NET_API QuantisedState read_residual(BitReader& reader, const QuantisedState& baseline,
                                                            double dt_s, const Quantisation& quantisation);

}  // namespace reckoner
