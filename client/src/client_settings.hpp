// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/config/settings.hpp"

#include <reckoner/client/client.hpp>
#include <reckoner/client/playout.hpp>
#include <reckoner/net/ids.hpp>

namespace reckoner {

/// The numbers of PlayoutConfig.
inline constexpr std::array kPlayoutSettings{
    setting<&PlayoutConfig::delay_s>("delay_s", "", "s", 0.0, 2.0, "",
                                     "in delayed mode: how long ago the shown instant is, s"),
    setting<&PlayoutConfig::max_delay_s>(
        "max_delay_s", "", "s", 0.0, 2.0, "",
        "in adaptive mode: the largest delay beyond one tick of the server, s"),
    setting<&PlayoutConfig::blend_s>("blend_s", "", "s", 0.0, 600.0, "corrections jump",
                                     "how long a correction takes, s"),
};

/// The numbers of ClientConfig, without those of its playout and its archetypes.
inline constexpr std::array kClientSettings{
    setting<&ClientConfig::show_ahead_s>(
        "show_ahead_s", "", "s", 0.0, 0.2, "",
        "what is shown is ahead of the time of update() by this, for example until a picture appears, s"),
    setting<&ClientConfig::ack_interval_s>("ack_interval_s", "", "s", 0.0, 0.1, "every update()",
                                           "received datagrams are acknowledged at least this often, s"),
    setting<&ClientConfig::silence_s>("silence_s", "", "s", 0.0, 3600.0, "",
                                      "all motion fades to rest if the connection is silent for longer, s"),
    setting<&ClientConfig::unconfirmed_s>(
        "unconfirmed_s", "", "s", 0.0, 3600.0, "",
        "an entity fades to rest if the server neither updates nor confirms it for this time, s"),
    setting<&ClientConfig::owned_updates_per_second>(
        "owned_updates_per_second", "", "per second", 0.001, 1000.0, "the thresholds decide",
        "budget of updates per second of each entity that the client owns"),
    setting<&ClientConfig::input_delay_ticks>("input_delay_ticks", "", "ticks", 0.0, 3.0, "",
                                              "an input takes effect this number of ticks later"),
    setting<&ClientConfig::inputs_per_datagram>(
        "inputs_per_datagram", "", "inputs", 1.0, 4.0, "",
        "every datagram with inputs carries at least this number of new ones"),
    setting<&ClientConfig::max_entities>("max_entities", "", "entities", 1.0, kMaxEntities, "",
                                         "entities that the client keeps at once; it refuses more"),
    setting<&ClientConfig::reconnect, &ReconnectConfig::silence_s>(
        "reconnect.silence_s", "", "s", 0.0, 3600.0, "",
        "a connection on which nothing arrived for this time is lost, s"),
    setting<&ClientConfig::reconnect, &ReconnectConfig::first_wait_s>(
        "reconnect.first_wait_s", "", "s", 0.0, 86'400.0, "",
        "longest wait before the first attempt, and before an attempt at another server of the token, s"),
    setting<&ClientConfig::reconnect, &ReconnectConfig::growth>(
        "reconnect.growth", "", "", 1.0, 1000.0, "",
        "the wait grows by this factor after each round of failed attempts at all servers of the token"),
    setting<&ClientConfig::reconnect, &ReconnectConfig::most_wait_s>(
        "reconnect.most_wait_s", "", "s", 0.0, 86'400.0, "", "longest wait before any attempt, s"),
    setting<&ClientConfig::reconnect, &ReconnectConfig::jitter>("reconnect.jitter", "", "", 0.0, 1.0, "",
                                                                "share of each wait that is random"),
    setting<&ClientConfig::reconnect, &ReconnectConfig::attempt_s>(
        "reconnect.attempt_s", "", "s", 0.0, 3600.0, "",
        "an attempt that has not succeeded after this time has failed, s"),
    setting<&ClientConfig::reconnect, &ReconnectConfig::give_up_s>(
        "reconnect.give_up_s", "", "s", 0.0, 1e9, "never",
        "the client stops its attempts after this time, s"),
};

}  // namespace reckoner
