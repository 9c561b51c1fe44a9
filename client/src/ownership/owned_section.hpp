// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/ownership/owned_entity.hpp"
#include "net/src/link/peer_link.hpp"
#include "net/src/link/sent_contents.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// The entities that this client owns, and the section of a datagram with their motions to the server.
class OwnedSection {
 public:
  static constexpr bool ClientDatagram::*kFlag = &ClientDatagram::has_owned;

  /// Null if the client does not own the entity.
  [[nodiscard]] OwnedEntity* find(EntityId id) const;
  OwnedEntity& add(EntityId id, OwnedEntity entity);
  void remove(EntityId id);
  [[nodiscard]] bool empty() const { return entities_.empty(); }
  [[nodiscard]] std::size_t size() const { return entities_.size(); }
  /// Most entities that a client owns; each takes some kilobytes. The client refuses more.
  static constexpr std::size_t kMax = 4096;

  // For ClientSections.
  [[nodiscard]] bool any_due() const;
  /// Writes every due motion that fits into the section of owned motions for the datagram `sequence`. The
  /// section has at most `most_bits` bits. Returns false and writes nothing if no motion is due.
  bool write(BitWriter& writer, std::size_t most_bits, Sequence sequence);
  void settle(const PeerLink::Outcome& outcome);

 private:
  struct SentUpdate {
    EntityId id;
    std::uint8_t term = 0;
    std::uint32_t number = 0;
  };
  std::map<std::uint32_t, std::pair<EntityId, std::unique_ptr<OwnedEntity>>> entities_;  // by slot
  SentContents<SentUpdate> sent_updates_;
};

}  // namespace reckoner
