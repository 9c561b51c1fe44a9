// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/net/enet_transport.hpp>
#include <reckoner/net/network_dialer.hpp>

namespace reckoner {

/// The dialer under the name that older games use. ENet is the default transport of a NetworkDialer.
using EnetDialer = NetworkDialer;

}  // namespace reckoner
