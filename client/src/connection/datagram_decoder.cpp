// SPDX-License-Identifier: MIT
#include "client/src/connection/datagram_decoder.hpp"

#include "net/src/messages/datagram.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <algorithm>

namespace reckoner {

std::optional<Refusal> DatagramDecoder::decode(std::span<const std::byte> payload) {
  BitReader reader{payload};
  datagram_.header = read_server_header(reader);
  if (reader.failed()) return Refusal::malformed;
  datagram_.tick = clock_.unwrap(datagram_.header.tick);
  // Refused before the contents are read, because their slots may hold other entities now.
  if (clock_.is_too_old(datagram_.tick)) return Refusal::too_old;
  if (clock_.is_far_ahead(datagram_.tick)) return Refusal::from_future;
  datagram_.complete = datagram_.tick - std::min(datagram_.header.complete_age, datagram_.tick);
  if (const auto why = motions_.read(reader, datagram_)) return why;
  if (const auto why = sections_.read(reader, datagram_)) return why;
  return reader.finished() ? std::nullopt : std::optional{Refusal::malformed};
}

}  // namespace reckoner
