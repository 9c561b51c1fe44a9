// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// Receives the decisions of a server, for analyses (ServerTestSwitches::observer). It is not part of the
/// product's interface. An observer must not call the server. Times are server time, s.
class ServerObserver {
 public:
  /// The server published a motion of an entity.
  struct Published {
    EntityId entity;
    std::uint8_t level = 0;  ///< level of detail
    double at_s = 0.0;       ///< time of the tick
    double motion_s = 0.0;   ///< time stamp of the motion
    /// Why: first, owner, teleport, frame, route, rate (a budget of updates or a fixed rate), or threshold.
    std::string_view cause;
    /// Distance between the entity and the motion that clients have, at this time, m. Not for first, owner
    /// and frame.
    double error_m = 0.0;
    double threshold_m = 0.0;  ///< the largest distance that this level of detail allows, m
  };
  /// The server sent a motion to a client, but not in the tick in which the motion became due for the client.
  struct Delayed {
    enum class Why : std::uint8_t {
      budget,  ///< the client's byte budget was used up
      repair,  ///< a datagram with this or an earlier motion was lost
      late,    ///< the server itself was late, and left datagrams to a later tick
      turn,    ///< it waited for the client's next datagram (ServerConfig::send_rate_hz)
    };
    ClientId client;
    EntityId entity;
    std::uint8_t level = 0;
    double at_s = 0.0;      ///< time of the tick that sent it
    double motion_s = 0.0;  ///< time stamp of the motion
    double since_s = 0.0;   ///< time of the tick in which it became due
    Why why = Why::budget;
  };

  virtual ~ServerObserver() = default;
  virtual void published(const Published& published) = 0;
  virtual void delayed(const Delayed& delayed) = 0;
};

[[nodiscard]] constexpr std::string_view name_of(ServerObserver::Delayed::Why why) {
  constexpr std::string_view kNames[] = {"budget", "repair", "late", "turn"};
  return kNames[static_cast<std::size_t>(why)];
}

}  // namespace reckoner
