// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/playout/session_clock.hpp"
#include "client/src/world/entity_store.hpp"
#include "client/src/world/session_formats.hpp"
#include "net/src/link/reliable_receiver.hpp"
#include "net/src/link/settled_numbers.hpp"

namespace reckoner {

/// What the client knows when a datagram arrives. The datagram contains only what is new, so decode() needs
/// the rest. Decoding changes nothing of it.
struct DecodeContext {
  const SessionFormats& formats;     ///< archetypes, quantisation and routes
  const SessionClock& clock;         ///< converts ticks to time, and bounds them
  const SettledNumbers& spawns;      ///< spawns that have arrived
  const ReliableReceiver& reliable;  ///< how far the stream of reliable messages has arrived
  const EntityStore& entities;       ///< known entities and their baselines
};

}  // namespace reckoner
