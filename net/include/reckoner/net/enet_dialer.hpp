// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/net/enet_transport.hpp>
#include <reckoner/net/network_dialer.hpp>

namespace reckoner {

/// The old name of NetworkDialer, for games that still use it. NetworkDialer uses ENet by default.
using EnetDialer = NetworkDialer;

}  // namespace reckoner
