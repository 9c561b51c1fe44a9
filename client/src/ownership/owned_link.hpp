// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/ownership/owned_entity.hpp"
#include "net/src/link/link_estimate.hpp"
#include "net/src/messages/ack_window.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// The entities that this client owns, and what of their motions is on its way to the server.
class OwnedLink {
 public:
  /// Null if the client does not own it.
  [[nodiscard]] OwnedEntity* find(EntityId id) const;
  OwnedEntity& add(EntityId id, OwnedEntity entity);
  void remove(EntityId id);
  [[nodiscard]] bool empty() const { return entities_.empty(); }
  [[nodiscard]] bool any_due() const;

  /// Numbers a datagram that is sent at `local_s`.
  Sequence send(double local_s);

  /// Writes the owned section of the datagram of that number, `most_bits` at most: everything that is due and
  /// fits. False, and nothing is written, if nothing is.
  bool write(BitWriter& writer, std::size_t most_bits, Sequence sequence, double tick_rate_hz);

  /// The server acknowledges datagrams of this client's.
  void acknowledged(const Ack& ack, double local_s);
  /// Gives up what was sent too long ago.
  void expire(double local_s);

  /// How long motions take to the server, about, s.
  [[nodiscard]] double one_way_s() const { return link_.known() ? link_.one_way_s() : 0.0; }

 private:
  struct SentUpdate {
    EntityId id;
    std::uint8_t term = 0;
    std::uint32_t number = 0;
  };
  void settle();

  std::map<std::uint32_t, std::pair<EntityId, std::unique_ptr<OwnedEntity>>> entities_;  // by slot
  SentWindow sent_;
  std::array<std::vector<SentUpdate>, SentWindow::kCapacity> carried_;  // by sequence
  LinkEstimate link_;
};

}  // namespace reckoner
