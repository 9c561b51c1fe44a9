// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/route_codec.hpp"
#include "server/src/publish/encodings.hpp"
#include "server/src/session/subscriptions.hpp"
#include "server/src/world/entity_table.hpp"
#include "server/src/world/field_table.hpp"

#include <cstdint>
#include <span>

#include <reckoner/net/ids.hpp>

namespace reckoner {

class CodingStatistics;
class ServerObserver;
class SharedMotions;

/// The inputs of one tick, shared by all sessions.
struct TickInputs {
  const EntityTable& entities;
  const FieldTable& fields;
  const Published& published;  ///< the slots published in this tick
  std::span<const Archetype> archetypes;
  std::span<const Quantisation> quantisation;  ///< index: archetype
  const RouteTable& routes;                    ///< the routes that motions may be on
  Encodings& encodings;
  Tick tick = 0;
  double tick_time_s = 0.0;
  double now_s = 0.0;
  double tick_rate_hz = 0.0;
  bool fields_changed = false;         ///< a field of some entity changed in this tick
  bool postponed = false;              ///< a later tick sends the datagrams of this tick
  CodingStatistics* coding = nullptr;  ///< counts every update; may be null
  /// The motions of `published` and of earlier ticks. Required for clients whose history is recorded.
  SharedMotions* motions = nullptr;
  ServerObserver* observer = nullptr;  ///< gets every delayed update; may be null

  /// The publishes that the client of this subscription gets.
  [[nodiscard]] const PublishStream& stream_of(const Subscription& subscription) const {
    return entities.slots()[subscription.id.slot()].levels[subscription.level].stream;
  }
  /// What is needed of stream_of() most often.
  [[nodiscard]] const StreamHead& head_of(const Subscription& subscription) const {
    return entities.heads()[subscription.id.slot() * kLevels + subscription.level];
  }
};

}  // namespace reckoner
