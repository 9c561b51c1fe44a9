// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/client_observer.hpp"
#include "client/src/connection/client_messages.hpp"
#include "client/src/connection/server_link.hpp"
#include "client/src/owned_entities.hpp"
#include "client/src/playout/playout_clock.hpp"
#include "client/src/playout/steps_in_a_row.hpp"
#include "client/src/shown/anticipated_hits.hpp"
#include "client/src/shown/frozen_frame.hpp"
#include "client/src/shown/shown_batch.hpp"
#include "client/src/shown/silence_fades.hpp"
#include "client/src/test_switches.hpp"
#include "client/src/world/entity_store.hpp"
#include "client/src/world/frames.hpp"
#include "client/src/world/predictions.hpp"
#include "client/src/world/waiting_fields.hpp"
#include "client/src/world/world_events.hpp"
#include "net/src/messages/messages.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/client/client.hpp>
#include <reckoner/net/refusal.hpp>

namespace reckoner {

/// The world of one session: what the server has sent, and what the client shows of it. It outlives the
/// connection. If the client joins a server that does not know the session, a new world replaces it.
/// client_world.cpp has the part that applies arrivals, client_world_shown.cpp the part that shows, and
/// client_world_events.cpp the part that reports events.
struct ClientWorld {
  /// `given_messages` and `given_stats` belong to the client and must outlive the world.
  ClientWorld(const ClientConfig& given, const ClientTestSwitches& given_switches,
              ClientMessages& given_messages, ClientStats& given_stats)
      : config(given),
        switches(given_switches),
        messages(given_messages),
        stats(given_stats),
        playout(config.playout),
        path_(path_of(config.playout.mode)) {}

  /// Starts the world from the server's welcome, at local time `local_s`. False if the message is invalid.
  [[nodiscard]] bool begin(const WelcomeMessage& message, double local_s);
  /// Applies a reliable message. Returns the reason if it is refused, else nullopt.
  [[nodiscard]] std::optional<Refusal> apply(const ReliableMessage& message);
  /// Ends the entities whose end waited for a message that was applied.
  void despawn_waiting();
  /// Decodes and applies, at local time `local_s`, a state datagram that arrived in the machine at
  /// `arrived_s`.
  void receive(std::span<const std::byte> payload, double local_s, double arrived_s);
  /// Notes that anything arrived from the server.
  void note_arrival(double local_s);

  /// Advances the clocks to local time `local_s`.
  void advance(double local_s);
  /// These implement the functions of Client with the same name. Call advance() first; the link's clock must
  /// be ready. The results stay valid until the next call of any member.
  [[nodiscard]] std::span<const ShownEntity> shown(const glm::dvec3& origin, double local_s);
  [[nodiscard]] ShownPoses shown_poses(const glm::dvec3& origin);
  [[nodiscard]] bool correct(EntityId id, const State& in_world, double hold_s);
  [[nodiscard]] std::optional<State> motion_at(EntityId id, double time_s) const;
  [[nodiscard]] SpawnResult predict_spawn(std::size_t archetype, const State& counted, std::uint32_t key,
                                          double patience_s);
  [[nodiscard]] bool drop_prediction(EntityId id);
  /// Queues the events of everything that has changed up to the instant shown. Client::update() calls it, so
  /// a game may poll events before or after it calls shown().
  void report_changes();

  /// While paused, the world shows the frozen frame (Client::set_paused()). A pause ends with its world.
  [[nodiscard]] bool paused() const { return frozen_.active(); }
  void pause(std::span<const ShownEntity> shown, const glm::dvec3& origin);
  void go_on();

  /// Changes the playout settings (Client::set_playout()).
  void set_playout(const PlayoutConfig& to);
  /// The playout settings that the server must know.
  [[nodiscard]] PlayoutMessage shows() const {
    const bool past = path_ == MotionPath::interpolate && wanted_path() == path_ && playout.settled();
    return {path_ == MotionPath::interpolate, past, std::clamp(blend_s(), 0.0, kMaxBlendS)};
  }

  /// True if the world can replace the world of an earlier session: the clock is ready, and the entities have
  /// arrived that existed at the join. If they are very many, the world does not wait for all.
  [[nodiscard]] bool can_replace(double local_s);

  /// Call this when the session is over. The client still shows the world until the next world is ready.
  void retire() { retired_ = true; }
  /// Reports a despawn for every visible entity, because the world ends.
  void report_end();

  /// True if the server cannot reconstruct what is shown: the client is paused, or motions fade to rest.
  [[nodiscard]] bool shows_unreported() const { return paused() || fades.any(); }
  [[nodiscard]] double blend_s() const { return config.playout.blend_s; }

  ClientConfig config;  // the archetypes as the server has set them
  ClientTestSwitches switches;
  ClientMessages& messages;
  ClientStats& stats;
  EntityStore entities;
  ServerLink link{entities, messages, stats};
  PlayoutClock playout;
  Frames frames{entities};
  Predictions predictions;
  WorldEvents events;
  SilenceFades fades{config.silence_s, config.unconfirmed_s, entities, events};
  OwnedEntities owned{{config, switches, link, playout, entities, frames, events, stats}};

 private:
  void apply(DecodedDatagram& datagram, double local_s);
  KnownEntity& introduce(KnownEntity entity, std::uint8_t level, Tick motion_tick,
                         const QuantisedState& encoded);
  void renew(KnownEntity& known, Tick sent, std::uint8_t level, Tick motion_tick,
             const QuantisedState& encoded, const Motion& motion);
  [[nodiscard]] bool has_room_for(EntityId id, FrameId frame) const;
  void refuse(EntityId id, std::size_t archetype, std::uint8_t level, Tick motion_tick,
              const QuantisedState& encoded);
  void apply(NewEntity& entity, Tick sent);
  void apply(const EndedEntity& ended);
  [[nodiscard]] bool lacks_messages(const EndedEntity& ended) const;
  void end_in_slot(const EndedEntity& ended);
  void despawn(KnownEntity& entity, Tick tick);
  // Where a motion came from, for the observer.
  struct Origin {
    bool announced = false;  // it came with a spawn
    std::uint8_t level = 0;
    Tick sent = 0;
  };
  [[nodiscard]] bool apply_motion(KnownEntity& entity, const Motion& motion, const Origin& origin);
  [[nodiscard]] bool blend_onto(KnownEntity& entity, const Motion& motion);
  [[nodiscard]] double applied_s() const;
  void limit_unseen(KnownEntity& entity);
  void apply(std::span<const MotionUpdate> updates, Tick sent, double local_s);
  void apply(std::span<const FieldUpdate> updates);
  [[nodiscard]] std::optional<Refusal> apply(const OwnershipMessage& message);
  void change_fields(double shown_s);
  void blend_over_jump(double before_s, double rate);
  void remove(std::uint32_t slot, double ended_s);
  void settle_frames(double shown_s);
  [[nodiscard]] bool appear(KnownEntity& entity, double shown_s);
  [[nodiscard]] bool report(KnownEntity& entity, double shown_s, int depth = 0);
  [[nodiscard]] bool report_frame(const KnownEntity& entity, double shown_s, int depth);
  bool blend_from_world(KnownEntity& entity, const State& in_world, BlendTime blend);
  [[nodiscard]] EntityId continue_prediction(KnownEntity& entity, double shown_s);
  void fail_prediction(EntityId id);

  // How an entity catches up that has fallen behind by some time.
  [[nodiscard]] BlendTime catch_up(double behind_s) const { return {blend_s(), std::abs(behind_s)}; }
  [[nodiscard]] static MotionPath path_of(PlayoutMode mode) {
    return mode == PlayoutMode::present ? MotionPath::predict : MotionPath::interpolate;
  }
  [[nodiscard]] MotionPath wanted_path() const { return path_of(config.playout.mode); }
  void review_path();

  MotionPath path_;
  bool retired_ = false;
  double joined_s_ = 0.0;                // server time of the join, s
  std::optional<double> clock_ready_s_;  // local time since which the clock is ready, s
  std::optional<Tick> newest_datagram_;  // tick of the newest datagram; empty: none has arrived
  StepsInARow steps_in_a_row_;
  AnticipatedHits hits_{entities, frames, playout};
  std::vector<ShownEntity> shown_;
  ShownBatch batch_;
  FrozenFrame frozen_;         // what a paused client shows
  double paused_at_s_ = 0.0;   // server time of the pause, s
  bool says_refused_ = false;  // the log names the limit of entities
  WaitingFields waiting_fields_;

  // Ends that wait for reliable messages.
  std::vector<EndedEntity> waiting_ends_;
};

}  // namespace reckoner
