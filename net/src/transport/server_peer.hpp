// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// The server, as the transport of a client numbers it: its only peer.
inline constexpr PeerId kServerPeer{1};

}  // namespace reckoner
