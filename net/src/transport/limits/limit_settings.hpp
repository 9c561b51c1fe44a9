// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/config/settings.hpp"

#include <reckoner/net/network_transport.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner {

/// The numbers of TransportLimits.
inline constexpr std::array kTransportLimitSettings{
    setting<&TransportLimits::datagrams_per_second>("datagrams_per_second", "limits.datagrams-per-second",
                                                    "per second", 0.0, 1e6, "no limit",
                                                    "datagrams per second from one client"),
    setting<&TransportLimits::bytes_per_second>("bytes_per_second", "limits.bytes-per-second", "bytes/s", 0.0,
                                                1e9, "no limit", "bytes per second from one client"),
    setting<&TransportLimits::address_datagrams_per_second>(
        "address_datagrams_per_second", "limits.address-datagrams-per-second", "per second", 0.0, 1e6,
        "no limit", "datagrams per second from all clients at one IPv4 address or IPv6 /64"),
    setting<&TransportLimits::address_bytes_per_second>(
        "address_bytes_per_second", "limits.address-bytes-per-second", "bytes/s", 0.0, 1e9, "no limit",
        "bytes per second from all clients at one IPv4 address or IPv6 /64"),
    setting<&TransportLimits::burst_s>(
        "burst_s", "limits.burst-s", "s", 0.1, 60.0, "",
        "seconds; each of the four rates above may come at once for this time"),
    setting<&TransportLimits::waiting_events>(
        "waiting_events", "limits.waiting-events", "events", 16.0, 1e7, "",
        "arrived events that the server has not processed; beyond that, it stops reading the socket"),
    setting<&TransportLimits::waiting_event_bytes>(
        "waiting_event_bytes", "limits.waiting-event-bytes", "bytes", 65'536.0, 4e9, "",
        "bytes in these events; beyond that, the server stops reading the socket"),
    setting<&TransportLimits::silence_s>(
        "silence_s", "limits.silence-s", "s", 1.0, 3600.0, "",
        "seconds; a client that sends nothing for this time is lost (it may reconnect)"),
};

/// The numbers of ListenConfig. A transport may have fewer connections.
inline constexpr std::array kListenSettings{
    setting<&ListenConfig::max_peers>("max_peers", "", "connections", 1.0, 250'000.0, "",
                                      "connections at once"),
};

/// The numbers of ServerSecurity.
inline constexpr std::array kSecuritySettings{
    setting<&ServerSecurity::peers_per_address>(
        "peers_per_address", "limits.peers-per-address", "connections", 1.0, 65'535.0, "",
        "connections from one IPv4 address or IPv6 /64; raise it for a school behind a NAT"),
    setting<&ServerSecurity::handshakes_per_second>("handshakes_per_second", "limits.handshakes-per-second",
                                                    "per second", 0.0, 1e6, "no limit",
                                                    "sessions that begin per second from one IPv4 address or "
                                                    "IPv6 /64; ten seconds' worth may come at once"),
    setting<&ServerSecurity::tokens_per_second>("tokens_per_second", "limits.tokens-per-second", "per second",
                                                0.0, 1e6, "no limit",
                                                "sessions that begin per second from all addresses together"),
    setting<&ServerSecurity::sessions_per_client>(
        "sessions_per_client", "limits.sessions-per-client", "sessions", 0.0, 65'535.0, "no limit",
        "sessions of one client id at once; a newer one ends the oldest"),
    setting<&ServerSecurity::used_tokens>(
        "used_tokens", "limits.used-tokens", "tokens", 64.0, 1e8, "",
        "used tokens that the server remembers, so that nobody uses them again; 400 bytes each; while the "
        "table is full, the server accepts no new token"),
    setting<&ServerSecurity::used_tokens_per_client>(
        "used_tokens_per_client", "limits.used-tokens-per-client", "tokens", 1.0, 1e6, "",
        "used tokens of one client id that the server remembers"),
    setting<&ServerSecurity::ticket_s>(
        "ticket_s", "limits.ticket-s", "s", 1.0, 604'800.0, "",
        "seconds; a client may reconnect for this time after its last connection"),
    setting<&ServerSecurity::half_open_s>("half_open_s", "limits.half-open-s", "s", 0.1, 60.0, "",
                                          "seconds; a session without a connection ends after this time"),
};

}  // namespace reckoner
