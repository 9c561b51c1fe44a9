// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/connection/decode_context.hpp"
#include "client/src/world/decoded_datagram.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <optional>

#include <reckoner/net/refusal.hpp>

namespace reckoner {

/// Reads the section of spawns and ends, and adds them to `out`. It checks everything that could make the
/// client refuse a spawn later: an acknowledged datagram tells the server that the client knows the entity.
/// The entity's frame may arrive later. Returns the reason if it refuses the datagram, else nullopt.
[[nodiscard]] std::optional<Refusal> read_spawn_section(BitReader& reader, const DecodeContext& known,
                                                        DecodedDatagram& out);

}  // namespace reckoner
