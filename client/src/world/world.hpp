// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/ownership/owned_section.hpp"
#include "client/src/playout/playout_clock.hpp"
#include "client/src/playout/session_clock.hpp"
#include "client/src/playout/showing_reporter.hpp"
#include "client/src/testing/client_observer.hpp"
#include "client/src/testing/test_switches.hpp"
#include "client/src/world/decoded_datagram.hpp"
#include "client/src/world/entity_store.hpp"
#include "client/src/world/frames.hpp"
#include "client/src/world/motion_blender.hpp"
#include "client/src/world/predictions.hpp"
#include "client/src/world/session_formats.hpp"
#include "client/src/world/silence_fades.hpp"
#include "client/src/world/waiting_fields.hpp"
#include "client/src/world/world_events.hpp"
#include "net/src/link/settled_numbers.hpp"
#include "net/src/messages/messages.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/client/client.hpp>
#include <reckoner/net/refusal.hpp>

namespace reckoner {

/// What the client knows of the world of one session: entities and their motions, frames, user fields,
/// predictions, and what waits for something else. everything that the server sends enters through apply().
struct World {
  /// `config` has the archetypes as the server has set them. `owned_motions` are those that this client
  /// sends. All must outlive the world.
  World(const ClientConfig& config, const ClientTestSwitches& switches, const SessionClock& clock,
        PlayoutClock& playout, ShowingReporter& showing, OwnedSection& owned_motions, ClientStats& stats)
      : fades{config.silence_s, config.unconfirmed_s, entities, events},
        blender_{playout, showing, fades, frames, events},
        config_(config),
        switches_(switches),
        clock_(clock),
        playout_(playout),
        owned_motions_(owned_motions),
        stats_(stats) {}

  /// Applies a decoded datagram at local time `local_s`, and takes contents out of it. The client has
  /// processed the first `processed` reliable messages. Returns true if the server waits for the
  /// acknowledgement before it sends more of an entity.
  [[nodiscard]] bool apply(DecodedDatagram& datagram, std::uint32_t processed, double local_s);
  /// Applies a motion that the client has kept while it owned the entity. The client does not own it any
  /// more.
  void apply_kept(KnownEntity& entity, const Motion& motion) { (void)blender_.blend_onto(entity, motion); }
  /// Applies a route. Returns the reason if it is refused, else nullopt.
  [[nodiscard]] std::optional<Refusal> apply(const RouteMessage& message);
  /// Ends the entities whose end waited for one of the first `processed` reliable messages.
  void end_waiting(std::uint32_t processed);

  /// Removes the entity in a slot, if there is one, which has ended at `ended_s`, server time.
  void remove(std::uint32_t slot, double ended_s);
  /// Reports that the server has not spawned the entity of a prediction.
  void fail_prediction(EntityId id) { events.add({ClientEvent::Kind::prediction_failed, id}); }

  SessionFormats formats;  ///< how the server encodes entities
  SettledNumbers spawns;   ///< spawns that have arrived, and those whose entities are known to have ended
  EntityStore entities;
  Frames frames{entities};
  Predictions predictions;
  WaitingFields waiting_fields;
  WorldEvents events;
  SilenceFades fades;

  /// How entities blend onto motions.
  [[nodiscard]] BlendPolicy blend_policy() const {
    BlendPolicy policy = switches_.blend;
    if (policy.shape == nullptr) policy.shape = &blend_shape(playout_.blend().curve);
    return policy;
  }

 private:
  // Where a motion came from, for the observer.
  struct Origin {
    bool announced = false;  // it came with a spawn
    std::uint8_t level = 0;
    Tick sent = 0;
  };

  [[nodiscard]] bool apply_spawn(NewEntity& spawned, Tick sent);
  void introduce(NewEntity& spawned, Tick sent);
  void renew(KnownEntity& known, const NewEntity& spawned, Tick sent);
  [[nodiscard]] bool has_room_for(EntityId id, FrameId frame) const;
  void refuse(const NewEntity& spawned);
  void apply_end(const EndedEntity& ended, std::uint32_t processed);
  void end_in_slot(const EndedEntity& ended);
  void despawn(KnownEntity& entity, Tick tick);
  void apply_motions(std::span<const MotionUpdate> updates, Tick sent, double local_s);
  [[nodiscard]] bool apply_motion(KnownEntity& entity, const Motion& motion, const Origin& origin);
  void apply_fields(std::span<const FieldUpdate> updates);
  void limit_unseen(KnownEntity& entity);

  MotionBlender blender_;
  const ClientConfig& config_;
  const ClientTestSwitches& switches_;
  const SessionClock& clock_;
  PlayoutClock& playout_;
  OwnedSection& owned_motions_;
  ClientStats& stats_;
  std::vector<EndedEntity> waiting_ends_;  // ends that wait for reliable messages
  bool says_refused_ = false;              // the log names the limit of entities
};

}  // namespace reckoner
