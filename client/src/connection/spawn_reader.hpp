// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/connection/decoded_datagram.hpp"
#include "client/src/connection/session_clock.hpp"
#include "client/src/connection/session_formats.hpp"
#include "net/src/link/settled_numbers.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/spawns.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <cstdint>
#include <optional>
#include <vector>

#include <reckoner/net/refusal.hpp>

namespace reckoner {

/// Reads the section of spawns and ends. It checks everything that could make the client refuse a spawn
/// later: an acknowledged datagram tells the server that the client knows the entity. The entity's frame may
/// arrive later.
class SpawnReader {
 public:
  static constexpr bool ServerHeader::*kFlag = &ServerHeader::has_spawns;

  /// `spawns` are the spawns that have arrived. All must outlive the reader.
  SpawnReader(const SessionFormats& formats, const SessionClock& clock, const SettledNumbers& spawns)
      : formats_(formats), clock_(clock), spawns_(spawns) {}

  // For SectionReaders.
  static void clear(DecodedDatagram& datagram) { datagram.entity_changes.clear(); }
  [[nodiscard]] std::optional<Refusal> read(BitReader& reader, DecodedDatagram& datagram);

 private:
  [[nodiscard]] std::optional<Refusal> add(Spawn& spawn, DecodedDatagram& datagram) const;
  [[nodiscard]] bool is_possible(std::uint32_t number) const {
    return spawns_.contains(number) || spawns_.is_within_window(number);
  }

  const SessionFormats& formats_;
  const SessionClock& clock_;
  const SettledNumbers& spawns_;
  std::vector<SpawnEntry> entries_;  // scratch
};

}  // namespace reckoner
