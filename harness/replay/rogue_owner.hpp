// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"
#include "net/src/link/peer_link.hpp"
#include "net/src/link/reliable_receiver.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <reckoner/net/archetype.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner::harness {

/// How an owner cheats.
enum class Cheat : std::uint8_t {
  none,      ///< does not cheat, for comparison
  speed,     ///< moves at three times its top speed
  teleport,  ///< jumps 40 m and back, alternating every second
  future,    ///< stamps its motions half a second ahead
  flood,     ///< sends about a thousand motions a second
};
[[nodiscard]] std::optional<Cheat> find_cheat(std::string_view name);

/// A cheating client without a game. It owns one entity and writes the messages of the protocol without the
/// class Client. No other entity may be relevant to it, because it does not decode motions. The entity runs
/// in a circle close to the top speed of its archetype. The cheat decides which motions the client sends. The
/// client knows the true server time.
class RogueOwner {
 public:
  /// Top speed of the entity's archetype, m/s.
  static constexpr double kTopSpeedMps = 8.0;

  RogueOwner(Cheat cheat, std::span<const Archetype> archetypes, std::size_t archetype, Transport& transport);

  /// Handles everything that has arrived. `now_s` is the present time, s.
  void receive(double now_s);
  /// Sends the motions of one tick to the server.
  void tick(Tick tick, double time_s, double tick_rate_hz);

  /// The state that the client claims for its entity at `time_s`.
  [[nodiscard]] State claimed_state(double time_s) const;

  /// The first message that the client sends after it has joined. The server recognises the client by this
  /// message.
  static constexpr std::byte kGreeting{0x66};

 private:
  void receive_datagram(std::span<const std::byte> payload, double now_s);
  void send_motion(Tick tick, double time_s, const State& state);

  Cheat cheat_;
  std::uint32_t archetype_hash_;
  Quantisation quantisation_;
  Transport& transport_;
  PeerId server_;
  bool answered_ = false;  // the server has answered the request to join
  PeerLink link_{0.1};
  ReliableReceiver messages_{{}};
  std::uint8_t term_ = 0;
  std::optional<EntityId> entity_;
};

}  // namespace reckoner::harness
