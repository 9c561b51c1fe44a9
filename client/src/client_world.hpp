// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/connection/client_messages.hpp"
#include "client/src/connection/server_link.hpp"
#include "client/src/playout/hold_limit.hpp"
#include "client/src/playout/playout_clock.hpp"
#include "client/src/shown/frozen_frame.hpp"
#include "client/src/shown/shown_batch.hpp"
#include "client/src/world/entity_store.hpp"
#include "client/src/world/frames.hpp"
#include "client/src/world/waiting_fields.hpp"
#include "net/src/messages/messages.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/client/client.hpp>
#include <reckoner/net/refusal.hpp>

namespace reckoner {

/// The world of one session: what a server has told the client, and what is shown of it. It outlives the
/// connection that it came over; a server that knows nothing of it begins another one. client_world.cpp has
/// what arrives, client_shown.cpp what is shown.
struct ClientWorld {
  /// `given_messages` and `stats` are the client's.
  ClientWorld(const ClientConfig& given, ClientMessages& given_messages, ClientStats& given_stats)
      : config(given),
        messages(given_messages),
        stats(given_stats),
        playout(config.playout),
        holds(config.silence_s, config.unconfirmed_s),
        path_(path_of(config.playout.mode)) {}

  /// False if the message makes no sense.
  [[nodiscard]] bool begin(const WelcomeMessage& message, double local_s);
  /// Why the message makes no sense now, or nothing.
  [[nodiscard]] std::optional<Refusal> take(const ControlMessage& message);
  /// A state datagram.
  void take(std::span<const std::byte> payload, double local_s);
  /// Something arrived.
  void note_arrival(double local_s);

  /// Moves the clocks on.
  void advance(double local_s);
  /// As the client's, with the clocks moved on and ready. Valid until the next call of anything.
  [[nodiscard]] std::span<const ShownEntity> frame(const glm::dvec3& origin, double local_s);
  [[nodiscard]] ShownPoses sample(const glm::dvec3& origin);
  [[nodiscard]] bool correct(EntityId id, const State& in_world);
  [[nodiscard]] bool move(EntityId id, const State& counted, EntityId frame, double local_s);
  void note_polled(const ClientEvent& event);

  /// What was shown stays, until it goes on from there (Client::set_paused()). A pause ends with its world.
  [[nodiscard]] bool paused() const { return frozen_.active(); }
  void pause(std::span<const ShownEntity> shown, const glm::dvec3& origin);
  void go_on();

  /// Shows by another configuration from now on (Client::set_playout()).
  void set_playout(const PlayoutConfig& to);
  /// How it shows others, as the server is to know it.
  [[nodiscard]] PlayoutMessage shows() const {
    const bool past = path_ == MotionPath::interpolate && wanted_path() == path_ && playout.settled();
    return {path_ == MotionPath::interpolate, past, std::clamp(blend_s(), 0.0, kMostBlendS)};
  }

  /// The session is over; what it left is shown until another can be.
  void retire() { retired_ = true; }
  /// The world is over: says that what was shown is gone.
  void end();

  [[nodiscard]] double blend_s() const {
    return frames_to_seconds(config.playout.blend_frames, config.playout.frame_rate_hz);
  }

  ClientConfig config;  // the archetypes as the server has set them
  ClientMessages& messages;
  ClientStats& stats;
  ServerLink link;
  PlayoutClock playout;
  HoldLimit holds;
  EntityStore entities;
  Frames frames{entities};
  std::deque<ClientEvent> events;

 private:
  [[nodiscard]] std::optional<Refusal> spawn(const SpawnMessage& message);
  [[nodiscard]] std::optional<Refusal> despawn(const DespawnMessage& message);
  [[nodiscard]] std::optional<Refusal> handle_ownership(const OwnershipMessage& message);
  [[nodiscard]] bool can_live_in(FrameId frame, EntityId id) const;
  [[nodiscard]] bool receive(KnownEntity& entity, const Motion& motion);
  void limit_unseen(KnownEntity& entity);
  void apply(std::span<const ServerLink::Update> updates, double local_s);
  void apply(std::span<const ServerLink::FieldUpdate> updates);
  void change_fields(double shown_s);
  void show_owned(KnownEntity& entity, const Motion& motion);
  void review_holds(double before_s);
  void blend_over_jump(double before_s, double rate);
  void remove(std::uint32_t slot, double ended_s);
  void settle_frames(double shown_s);
  [[nodiscard]] bool appear(KnownEntity& entity, double shown_s);

  // What has fallen behind by `behind_s` is caught up in as much time, so that it overtakes at a speed like
  // its handle_ownership; at most so long.
  static constexpr double kLongestCatchUpS = 0.5;
  [[nodiscard]] double catch_up_s(double behind_s) const {
    return std::max(blend_s(), std::min(std::abs(behind_s), kLongestCatchUpS));
  }
  // What is left of that: an update in the middle of it does not make it a leap.
  [[nodiscard]] double catch_up_left_s(const Blend& blend, double shown_s) const {
    return blend.duration_s() > blend_s() ? blend.start_s() + blend.duration_s() - shown_s : 0.0;
  }
  [[nodiscard]] static MotionPath path_of(PlayoutMode mode) {
    return mode == PlayoutMode::present ? MotionPath::predict : MotionPath::interpolate;
  }
  [[nodiscard]] MotionPath wanted_path() const { return path_of(config.playout.mode); }
  void review_path();

  MotionPath path_;
  bool retired_ = false;
  bool any_fading_ = false;  // some entity has a limit
  std::vector<ShownEntity> shown_;
  ShownBatch batch_;
  FrozenFrame frozen_;        // what a paused client shows
  double paused_at_s_ = 0.0;  // server time
  WaitingFields waiting_fields_;
};

}  // namespace reckoner
