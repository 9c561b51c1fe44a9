// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/config/settings.hpp"

#include <array>

#include <reckoner/web/web_listener.hpp>

namespace reckoner {

/// The numbers of WebConfig.
inline constexpr std::array kWebSettings{
    setting<&WebConfig::max_peers>("max_peers", "", "clients", 1.0, 65'535.0, "", "clients at once"),
    setting<&WebConfig::max_peers_per_host>("max_peers_per_host", "", "clients", 1.0, 65'535.0, "",
                                            "clients at once from one IPv4 address or IPv6 /64"),
    setting<&WebConfig::max_connections>("max_connections", "", "connections", 4.0, 65'535.0, "",
                                         "TCP connections at once, also those that load files"),
    setting<&WebConfig::max_connections_per_host>(
        "max_connections_per_host", "", "connections", 1.0, 65'535.0, "",
        "TCP connections at once from one IPv4 address or IPv6 /64"),
    setting<&WebConfig::join_s>("join_s", "", "s", 0.1, 60.0, "",
                                "a connection that has not joined, or has not got its file, after this time "
                                "is closed, s"),
};

}  // namespace reckoner
