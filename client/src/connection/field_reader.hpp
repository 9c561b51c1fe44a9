// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/connection/decode_context.hpp"
#include "client/src/world/decoded_datagram.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <optional>

#include <reckoner/net/refusal.hpp>

namespace reckoner {

/// Reads the section of changed user fields, and adds them to `out`. Returns the reason if it refuses the
/// datagram, else nullopt.
[[nodiscard]] std::optional<Refusal> read_field_section(BitReader& reader, const DecodeContext& known,
                                                        DecodedDatagram& out);

}  // namespace reckoner
