// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/connection/decode_context.hpp"
#include "client/src/world/decoded_datagram.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <optional>

#include <reckoner/net/refusal.hpp>

namespace reckoner {

/// Reads the motions that the header of `out` announces, and adds them to `out`. Every motion is checked, so
/// that the client need not refuse it when it applies the datagram: an acknowledged datagram tells the server
/// that the client has its motions. Returns the reason if it refuses the datagram, else nullopt.
[[nodiscard]] std::optional<Refusal> read_motions(BitReader& reader, const DecodeContext& known,
                                                  DecodedDatagram& out);

}  // namespace reckoner
