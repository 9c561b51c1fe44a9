// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/field_codec.hpp"
#include "net/src/codec/motion_codec.hpp"
#include "net/src/messages/correction.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/messages/reliable_part.hpp"
#include "net/src/messages/spawns.hpp"

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include <reckoner/client/client.hpp>
#include <reckoner/net/archetype.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// A new motion of the entity in a slot.
struct MotionUpdate {
  std::uint32_t slot = 0;
  std::uint8_t level = 0;
  Tick tick = 0;
  QuantisedState encoded;  ///< the received numbers; they are the baseline of later motions
  Motion motion;
  bool lacks_frame = false;  ///< the client has refused the entity that carries the motion's frame
};

/// A spawn, with what the client needs of it.
struct NewEntity {
  std::uint32_t number = 0;  ///< Spawn::number
  EntityId entity{};
  EntityInfo info{};
  std::optional<std::uint32_t> prediction{};  ///< key of the prediction that the entity fulfils
  std::uint8_t level = 0;
  Tick motion_tick = 0;
  QuantisedState encoded{};
  Motion motion{};
  std::vector<FieldValue> values{};
  bool values_follow = false;  ///< `values` are the initial ones; the others follow
};

/// The end of an entity.
struct EndedEntity {
  std::uint32_t number = 0;  ///< Despawn::number
  EntityId entity{};
  Tick tick = 0;                                  ///< the first tick without the entity
  std::optional<std::uint16_t> after_messages{};  ///< Despawn::after_messages
};

/// What the section of spawns says about one entity or prediction.
using EntityChange = std::variant<NewEntity, EndedEntity, PredictionRefusal>;

/// A changed field of the entity in a slot.
struct FieldUpdate {
  std::uint32_t slot = 0;
  std::uint8_t field = 0;
  double time_s = 0.0;  ///< server time of the change
  FieldValue value;
};

/// The contents of one state datagram of the server, as values.
struct DecodedDatagram {
  ServerHeader header;
  Tick tick = 0;      ///< the tick in which the server sent it
  Tick complete = 0;  ///< the tick up to which the server considers the client's data complete
  std::vector<MotionUpdate> motions;  ///< in order of slot
  std::vector<EntityChange> entity_changes;
  std::vector<FieldUpdate> fields;
  PredictionReport predictions;
  MessageBatch messages;
  std::vector<ReliablePart> reliable;  ///< parts of the stream of reliable messages

  /// Memory of the readers, kept so that decoding seldom allocates. It has no meaning afterwards.
  struct Scratch {
    std::vector<SpawnEntry> spawns;
    std::vector<FieldChange> changes;
  };
  Scratch scratch;

  /// Removes all contents.
  void clear() {
    motions.clear();
    entity_changes.clear();
    fields.clear();
    predictions.clear();
    messages.clear();
    reliable.clear();
  }
};

}  // namespace reckoner
