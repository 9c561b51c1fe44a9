// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/connection/decode_context.hpp"
#include "client/src/world/decoded_datagram.hpp"

#include <cstddef>
#include <optional>
#include <span>

#include <reckoner/net/refusal.hpp>

namespace reckoner {

/// Decodes a state datagram of the server into `out`. Trusts nothing in it. Returns the reason if the
/// datagram must not be applied, because it is malformed, refers to something unknown or is too old. `out`
/// then has no meaning. Returns nullopt if `out` can be applied.
[[nodiscard]] std::optional<Refusal> decode(std::span<const std::byte> bytes, const DecodeContext& known,
                                            DecodedDatagram& out);

}  // namespace reckoner
