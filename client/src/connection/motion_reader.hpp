// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/connection/decoded_datagram.hpp"
#include "client/src/connection/session_clock.hpp"
#include "client/src/connection/session_formats.hpp"
#include "client/src/world/entity_store.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <cstdint>
#include <optional>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/refusal.hpp>

namespace reckoner {

/// Reads the motions of a datagram. Every motion is checked, so that the client need not refuse it when it
/// applies the datagram: an acknowledged datagram tells the server that the client has its motions.
class MotionReader {
 public:
  /// All must outlive the reader.
  MotionReader(const SessionFormats& formats, const SessionClock& clock, const EntityStore& entities)
      : formats_(formats), clock_(clock), entities_(entities) {}

  /// Reads the motions that the header of `datagram` announces. Returns the reason if it refuses the
  /// datagram, else nullopt.
  [[nodiscard]] std::optional<Refusal> read(BitReader& reader, DecodedDatagram& datagram) const;

 private:
  [[nodiscard]] std::optional<Refusal> read_motion(BitReader& reader, const UpdateHeader& head,
                                                   DecodedDatagram& datagram) const;
  [[nodiscard]] bool frames_fit(DecodedDatagram& datagram) const;
  [[nodiscard]] FrameId frame_after(std::uint32_t slot, const DecodedDatagram& datagram) const;

  const SessionFormats& formats_;
  const SessionClock& clock_;
  const EntityStore& entities_;
};

}  // namespace reckoner
