// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// A published motion (reckoner-server --decisions).
struct PublishFact {
  EntityId entity;
  std::uint8_t level = 0;
  double at_s = 0.0;      ///< time of the tick
  double motion_s = 0.0;  ///< time stamp of the motion
  double error_m = 0.0;   ///< how far the motion that clients had was off
  double threshold_m = 0.0;
  std::string why;  ///< first, owner, teleport, frame, route, rate or threshold
};

/// An update that the server did not send in the tick in which it became due.
struct DelayFact {
  enum class Why : std::uint8_t { budget, repair, late, turn };
  ClientId client;
  EntityId entity;
  std::uint8_t level = 0;
  double at_s = 0.0;      ///< when it was sent
  double motion_s = 0.0;  ///< time stamp of the motion
  double since_s = 0.0;   ///< when it became due
  Why why = Why::budget;
};

/// The decisions of a server, in order of time.
struct ServerDecisions {
  std::vector<PublishFact> published;
  std::vector<DelayFact> delayed;

  /// The publication of a motion; null if the log has none. `motion_s` may be off by a microsecond.
  [[nodiscard]] const PublishFact* publication(EntityId entity, std::uint8_t level, double motion_s) const;
  /// The delay of a motion for a client; null if it was sent at once.
  [[nodiscard]] const DelayFact* delay(ClientId client, EntityId entity, double motion_s) const;
};

/// Reads the file of reckoner-server --decisions. For a malformed file, the error names the file, the line
/// and what is wrong. `name` is shown as the path.
[[nodiscard]] Result<ServerDecisions> parse_decisions(std::string_view text, std::string_view name);

}  // namespace reckoner::harness
