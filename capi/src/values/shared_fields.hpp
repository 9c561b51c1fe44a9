// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/config/settings.hpp"

#include <array>
#include <cstddef>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>

#include <reckoner.h>

#include <reckoner/client/client.hpp>
#include <reckoner/net/archetype.hpp>
#include <reckoner/net/network_transport.hpp>
#include <reckoner/server/server.hpp>

/// The numbers, flags and enumerators that structs of the C API share with C++ configurations. Each is one
/// row, which copies it in both directions. Pointers, texts and nested lists are converted by hand.
namespace reckoner::capi {

/// Copies one member between a C struct and a C++ configuration.
template <class C, class Config>
struct SharedField {
  void (*to_c)(C&, const Config&);
  void (*from_c)(Config&, const C&);
};

template <class To, class From>
void assign(To& to, const From& from) {
  if constexpr (std::is_array_v<From> || std::is_array_v<To>) {
    static_assert(sizeof(To) == sizeof(From));
    for (std::size_t i = 0; i < std::size(from); ++i)
      assign(to[i], from[i]);
  } else {
    to = static_cast<To>(from);
  }
}

/// The row for a member of a C struct and the member at the end of a path in the configuration.
template <auto CMember, auto First, auto... Rest>
[[nodiscard]] constexpr auto shared() {
  using C = typename settings::MemberOf<decltype(CMember)>::Class;
  using Config = typename settings::MemberOf<decltype(First)>::Class;
  return SharedField<C, Config>{
      [](C& c, const Config& config) { assign(c.*CMember, settings::at_path<First, Rest...>(config)); },
      [](Config& config, const C& c) { assign(settings::at_path<First, Rest...>(config), c.*CMember); }};
}

/// Copies all members of a table into the C struct.
template <class C, class Config, std::size_t Size>
void copy_to_c(const std::array<SharedField<C, Config>, Size>& fields, C& c, const Config& config) {
  for (const SharedField<C, Config>& field : fields)
    field.to_c(c, config);
}

/// Copies all members of a table into the configuration. The caller has checked the enumerators.
template <class C, class Config, std::size_t Size>
void copy_from_c(const std::array<SharedField<C, Config>, Size>& fields, Config& config, const C& c) {
  for (const SharedField<C, Config>& field : fields)
    field.from_c(config, c);
}

inline constexpr std::array kArchetypeFields{
    shared<&reckoner_archetype::threshold_m, &Archetype::threshold_m>(),
    shared<&reckoner_archetype::threshold_rad, &Archetype::threshold_rad>(),
    shared<&reckoner_archetype::max_speed_mps, &Archetype::max_speed_mps>(),
    shared<&reckoner_archetype::world_size_m, &Archetype::world_size_m>(),
    shared<&reckoner_archetype::has_orientation, &Archetype::has_orientation>(),
    shared<&reckoner_archetype::never_reverses, &Archetype::never_reverses>(),
    shared<&reckoner_archetype::velocity, &Archetype::velocity>(),
};

inline constexpr std::array kServerFields{
    shared<&reckoner_server_config::tick_rate_hz, &ServerConfig::tick_rate_hz>(),
    shared<&reckoner_server_config::epoch_s, &ServerConfig::epoch_s>(),
    shared<&reckoner_server_config::max_clients, &ServerConfig::max_clients>(),
    shared<&reckoner_server_config::max_entities, &ServerConfig::max_entities>(),
    shared<&reckoner_server_config::bytes_per_second, &ServerConfig::bytes_per_second>(),
    shared<&reckoner_server_config::follow_link, &ServerConfig::follow_link>(),
    shared<&reckoner_server_config::threads, &ServerConfig::threads>(),
    shared<&reckoner_server_config::send_rate_hz, &ServerConfig::send_rate_hz>(),
    shared<&reckoner_server_config::client_messages_per_second, &ServerConfig::client_messages_per_second>(),
    shared<&reckoner_server_config::client_message_bytes_per_second,
           &ServerConfig::client_message_bytes_per_second>(),
    shared<&reckoner_server_config::repeat_input_s, &ServerConfig::repeat_input_s>(),
    shared<&reckoner_server_config::heartbeat_s, &ServerConfig::heartbeat_s>(),
    shared<&reckoner_server_config::join_timeout_s, &ServerConfig::join_timeout_s>(),
    shared<&reckoner_server_config::resume_s, &ServerConfig::resume_s>(),
    shared<&reckoner_server_config::updates_per_second, &ServerConfig::updates_per_second>(),
    shared<&reckoner_server_config::fixed_rate_hz, &ServerConfig::fixed_rate_hz>(),
    shared<&reckoner_server_config::rewind_s, &ServerConfig::rewind_s>(),
    shared<&reckoner_server_config::interest_radius_m, &ServerConfig::interest, &InterestConfig::radius_m>(),
    shared<&reckoner_server_config::interest_hysteresis, &ServerConfig::interest,
           &InterestConfig::hysteresis>(),
    shared<&reckoner_server_config::interest_level_distance_m, &ServerConfig::interest,
           &InterestConfig::level_distance_m>(),
    shared<&reckoner_server_config::interest_interval_s, &ServerConfig::interest,
           &InterestConfig::interval_s>(),
};

inline constexpr std::array kLimitFields{
    shared<&reckoner_server_config::limit_datagrams_per_second, &TransportLimits::datagrams_per_second>(),
    shared<&reckoner_server_config::limit_bytes_per_second, &TransportLimits::bytes_per_second>(),
    shared<&reckoner_server_config::limit_address_datagrams_per_second,
           &TransportLimits::address_datagrams_per_second>(),
    shared<&reckoner_server_config::limit_address_bytes_per_second,
           &TransportLimits::address_bytes_per_second>(),
    shared<&reckoner_server_config::limit_burst_s, &TransportLimits::burst_s>(),
    shared<&reckoner_server_config::limit_waiting_events, &TransportLimits::waiting_events>(),
    shared<&reckoner_server_config::limit_waiting_event_bytes, &TransportLimits::waiting_event_bytes>(),
    shared<&reckoner_server_config::limit_silence_s, &TransportLimits::silence_s>(),
};

inline constexpr std::array kSecurityFields{
    shared<&reckoner_server_config::game, &ServerSecurity::game>(),
    shared<&reckoner_server_config::any_server, &ServerSecurity::any_server>(),
    shared<&reckoner_server_config::peers_per_address, &ServerSecurity::peers_per_address>(),
    shared<&reckoner_server_config::handshakes_per_second, &ServerSecurity::handshakes_per_second>(),
    shared<&reckoner_server_config::tokens_per_second, &ServerSecurity::tokens_per_second>(),
    shared<&reckoner_server_config::ticket_s, &ServerSecurity::ticket_s>(),
    shared<&reckoner_server_config::half_open_s, &ServerSecurity::half_open_s>(),
    shared<&reckoner_server_config::sessions_per_client, &ServerSecurity::sessions_per_client>(),
    shared<&reckoner_server_config::used_tokens, &ServerSecurity::used_tokens>(),
    shared<&reckoner_server_config::used_tokens_per_client, &ServerSecurity::used_tokens_per_client>(),
};

inline constexpr std::array kOwnershipFields{
    shared<&reckoner_ownership_rules::policy, &OwnershipRules::policy>(),
    shared<&reckoner_ownership_rules::gone, &OwnershipRules::gone>(),
    shared<&reckoner_ownership_rules::max_acceleration_mps2, &OwnershipRules::max_acceleration_mps2>(),
    shared<&reckoner_ownership_rules::max_updates_per_s, &OwnershipRules::max_updates_per_s>(),
    shared<&reckoner_ownership_rules::silence_s, &OwnershipRules::silence_s>(),
    shared<&reckoner_ownership_rules::frame_reach_m, &OwnershipRules::frame_reach_m>(),
    shared<&reckoner_ownership_rules::max_teleport_m, &OwnershipRules::max_teleport_m>(),
    shared<&reckoner_ownership_rules::teleport_interval_s, &OwnershipRules::teleport_interval_s>(),
    shared<&reckoner_ownership_rules::max_turning_mps, &OwnershipRules::max_turning_mps>(),
};

inline constexpr std::array kPredictionFields{
    shared<&reckoner_prediction_rules::position_m, &PredictionRules::position_m>(),
    shared<&reckoner_prediction_rules::angle_rad, &PredictionRules::angle_rad>(),
};

inline constexpr std::array kPlayoutFields{
    shared<&reckoner_playout::mode, &PlayoutConfig::mode>(),
    shared<&reckoner_playout::delay_s, &PlayoutConfig::delay_s>(),
    shared<&reckoner_playout::max_delay_s, &PlayoutConfig::max_delay_s>(),
    shared<&reckoner_playout::blend_s, &PlayoutConfig::blend_s>(),
    shared<&reckoner_playout::blend_curve, &PlayoutConfig::blend_curve>(),
};

inline constexpr std::array kClientFields{
    shared<&reckoner_client_config::mode, &ClientConfig::playout, &PlayoutConfig::mode>(),
    shared<&reckoner_client_config::delay_s, &ClientConfig::playout, &PlayoutConfig::delay_s>(),
    shared<&reckoner_client_config::max_delay_s, &ClientConfig::playout, &PlayoutConfig::max_delay_s>(),
    shared<&reckoner_client_config::blend_s, &ClientConfig::playout, &PlayoutConfig::blend_s>(),
    shared<&reckoner_client_config::blend_curve, &ClientConfig::playout, &PlayoutConfig::blend_curve>(),
    shared<&reckoner_client_config::show_ahead_s, &ClientConfig::show_ahead_s>(),
    shared<&reckoner_client_config::ack_interval_s, &ClientConfig::ack_interval_s>(),
    shared<&reckoner_client_config::silence_s, &ClientConfig::silence_s>(),
    shared<&reckoner_client_config::unconfirmed_s, &ClientConfig::unconfirmed_s>(),
    shared<&reckoner_client_config::input_delay_ticks, &ClientConfig::input_delay_ticks>(),
    shared<&reckoner_client_config::inputs_per_datagram, &ClientConfig::inputs_per_datagram>(),
    shared<&reckoner_client_config::owned_updates_per_second, &ClientConfig::owned_updates_per_second>(),
    shared<&reckoner_client_config::reconnect_silence_s, &ClientConfig::reconnect,
           &ReconnectConfig::silence_s>(),
    shared<&reckoner_client_config::reconnect_first_wait_s, &ClientConfig::reconnect,
           &ReconnectConfig::first_wait_s>(),
    shared<&reckoner_client_config::reconnect_growth, &ClientConfig::reconnect, &ReconnectConfig::growth>(),
    shared<&reckoner_client_config::reconnect_most_wait_s, &ClientConfig::reconnect,
           &ReconnectConfig::most_wait_s>(),
    shared<&reckoner_client_config::reconnect_jitter, &ClientConfig::reconnect, &ReconnectConfig::jitter>(),
    shared<&reckoner_client_config::reconnect_attempt_s, &ClientConfig::reconnect,
           &ReconnectConfig::attempt_s>(),
    shared<&reckoner_client_config::reconnect_give_up_s, &ClientConfig::reconnect,
           &ReconnectConfig::give_up_s>(),
    shared<&reckoner_client_config::max_entities, &ClientConfig::max_entities>(),
};

}  // namespace reckoner::capi
