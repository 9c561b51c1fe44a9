// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/config/settings.hpp"

#include <reckoner/net/ids.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// The numeric settings of ServerConfig. kArchetypeSettings describes the settings of its archetypes.
inline constexpr std::array kServerSettings{
    setting<&ServerConfig::tick_rate_hz>("tick_rate_hz", "tick-rate", "Hz", 1.0, 1000.0, "",
                                         "ticks per second, Hz"),
    setting<&ServerConfig::epoch_s>("epoch_s", "", "s", -kMaxStamp, kMaxStamp, "",
                                    "server time of tick 0, s"),
    setting<&ServerConfig::max_clients>("max_clients", "max-clients", "clients", 1.0, 65'535.0, "",
                                        "clients at once; the server refuses more"),
    setting<&ServerConfig::max_entities>("max_entities", "", "entities", 1.0, kMaxEntities, "",
                                         "entities at once; Server::spawn() refuses more"),
    setting<&ServerConfig::bytes_per_second>("bytes_per_second", "bytes-per-second", "bytes/s", 1.0, 1e12,
                                             "as much as the client's connection carries",
                                             "bytes per second to one client at most, with headers"),
    setting<&ServerConfig::send_rate_hz>("send_rate_hz", "send-rate", "Hz", 0.1, 1000.0, "every tick",
                                         "datagrams with motions per second to one client, Hz"),
    setting<&ServerConfig::client_messages_per_second>(
        "client_messages_per_second", "client-messages-per-second", "per second", 0.1, 1e6, "no limit",
        "game messages per second from one client; further reliable ones wait at the client"),
    setting<&ServerConfig::client_message_bytes_per_second>(
        "client_message_bytes_per_second", "client-message-bytes-per-second", "bytes/s", 1.0, 1e12,
        "no limit",
        "bytes of game messages per second from one client; further reliable ones wait at the client"),
    setting<&ServerConfig::repeat_input_s>(
        "repeat_input_s", "", "s", 0.0, 10.0, "never",
        "a player's input that has not arrived is the one before, for this "
        "time, s"),
    setting<&ServerConfig::heartbeat_s>("heartbeat_s", "", "s", 0.0, 3600.0, "every tick",
                                        "a datagram goes to every client at least this often, s"),
    setting<&ServerConfig::join_timeout_s>(
        "join_timeout_s", "", "s", 0.0, 3600.0, "",
        "a connection that does not ask to join is closed after this time, s"),
    setting<&ServerConfig::resume_s>("resume_s", "", "s", 0.0, 1e9, "never",
                                     "how long a disconnected client may resume its session, s"),
    setting<&ServerConfig::updates_per_second>(
        "updates_per_second", "updates-per-second", "per second", 0.001, 1000.0,
        "the thresholds decide alone", "budget of updates per second and entity; the thresholds adapt to it"),
    setting<&ServerConfig::fixed_rate_hz>("fixed_rate_hz", "fixed-rate", "Hz", 0.001, 1000.0,
                                          "the thresholds decide",
                                          "publish every entity at this even rate, Hz"),
    setting<&ServerConfig::rewind_s>("rewind_s", "", "s", 0.0, 1.0, "no lag compensation",
                                     "how far back lag compensation goes, s"),
    setting<&ServerConfig::threads>("threads", "threads", "threads", 0.0, 256.0, "one for each core",
                                    "threads that publish and encode"),
    setting<&ServerConfig::interest, &InterestConfig::radius_m>(
        "interest.radius_m", "", "m", 0.001, 1e12, "any distance",
        "entities up to this distance from the client's eye are relevant, m"),
    setting<&ServerConfig::interest, &InterestConfig::hysteresis>(
        "interest.hysteresis", "", "", 0.0, 100.0, "",
        "a relevant entity stays relevant up to (1 + hysteresis) * radius_m"),
    setting<&ServerConfig::interest, &InterestConfig::level_distance_m, 0>(
        "interest.level_distance_m[0]", "", "m", 0.0, 1e12, "never",
        "from this distance on the threshold is 4 times as large, m"),
    setting<&ServerConfig::interest, &InterestConfig::level_distance_m, 1>(
        "interest.level_distance_m[1]", "", "m", 0.0, 1e12, "never",
        "from this distance on the threshold is 16 times as large, m"),
    setting<&ServerConfig::interest, &InterestConfig::interval_s>(
        "interest.interval_s", "", "s", 0.0, 3600.0, "every tick",
        "how often the relevant entities of a client are determined, s"),
};

/// The numeric settings of OwnershipRules.
inline constexpr std::array kOwnershipSettings{
    setting<&OwnershipRules::max_acceleration_mps2>("max_acceleration_mps2", "", "m/s^2", 0.001, 1e12, "",
                                                    "largest acceleration of the owner's motions, m/s^2"),
    setting<&OwnershipRules::max_updates_per_s>("max_updates_per_s", "", "per second", 0.001, 1e6, "",
                                                "motions per second of the owner; the server ignores more"),
    setting<&OwnershipRules::frame_reach_m>(
        "frame_reach_m", "", "m", 0.0, 1e12, "the owner may not change the frame",
        "the owner may move the entity into a boardable frame up to this distance from the frame's middle, "
        "m"),
    setting<&OwnershipRules::silence_s>(
        "silence_s", "", "s", 0.001, 3600.0, "",
        "the entity comes to rest if its owner sends no motion for this time, s"),
    setting<&OwnershipRules::max_teleport_m>("max_teleport_m", "", "m", 0.0, 1e12,
                                             "the owner may not declare teleports",
                                             "largest distance of a teleport that the owner declares, m"),
    setting<&OwnershipRules::teleport_interval_s>(
        "teleport_interval_s", "", "s", 0.0, 86'400.0, "",
        "least time between two teleports that the owner declares, s"),
    setting<&OwnershipRules::max_turning_mps>("max_turning_mps", "", "m/s", 0.0, 1e12,
                                              "the top speed of the entity's archetype",
                                              "how fast a frame that turns may move the entity, m/s"),
};

}  // namespace reckoner
