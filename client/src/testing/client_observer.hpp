// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"

#include <cstdint>

#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// Receives what a client decodes and applies, for analyses of recorded sessions
/// (ClientTestSwitches::observer). It is not part of the product's interface. An observer must not call the
/// client. Server times are in s of the server's clock.
class ClientObserver {
 public:
  /// The server has admitted the client, and a new world begins.
  struct Joined {
    ClientId client;
    double tick_rate_hz = 0.0;
    double epoch_s = 0.0;  ///< server time of tick 0
  };
  /// A state datagram was decoded. Its motions follow.
  struct Datagram {
    Sequence sequence = 0;
    Tick tick = 0;            ///< tick in which the server sent it
    double sent_s = 0.0;      ///< server time of that tick
    double complete_s = 0.0;  ///< the server time up to which the server considers the client's data complete
    double arrived_local_s = 0.0;  ///< local time of the arrival
  };
  /// A motion of a known or new entity.
  struct Arrival {
    EntityId entity;
    bool announced = false;  ///< it came in a spawn
    bool fresh = false;      ///< the entity was not known before
    bool applied = false;    ///< false: it was older than a known motion
    std::uint8_t level = 0;  ///< level of detail
    double sent_s = 0.0;     ///< server time at which the server sent the motion
    Motion motion;
    Motion previous;  ///< the newest motion before; of a new entity: the motion itself
    State before;     ///< the state without blend at the shown time, before and after the motion was applied
    State after;
    double shown_s = 0.0;  ///< the shown instant, server time
  };

  virtual ~ClientObserver() = default;
  virtual void joined(const Joined& joined) = 0;
  virtual void datagram(const Datagram& datagram) = 0;
  virtual void arrival(const Arrival& arrival) = 0;
  virtual void ownership(EntityId entity, OwnershipMessage::Change change) = 0;
  virtual void clock_stepped(double by_s) = 0;
};

}  // namespace reckoner
