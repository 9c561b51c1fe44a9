// SPDX-License-Identifier: MIT
// What sized structs are filled in with: the defaults of the C++ configurations, so that there is one place
// for each.
#include "capi/src/boundary.hpp"
#include "capi/src/convert.hpp"

#include <reckoner/client/client.hpp>
#include <reckoner/net/network_transport.hpp>
#include <reckoner/reckoning/route.hpp>
#include <reckoner/server/server.hpp>

using namespace reckoner;

void reckoner_state_init(reckoner_state* state) {
  if (state != nullptr) *state = capi::to_c(State{});
}

void reckoner_field_spec_init(reckoner_field_spec* spec, std::uint32_t struct_size) {
  const IntegerField integer;
  const RealField real;
  reckoner_field_spec c{};
  c.name = "";
  c.integer_least = integer.least;
  c.integer_most = integer.most;
  c.real_least = real.least;
  c.real_most = real.most;
  c.real_step = real.step;
  c.most_bytes = kMaxBlobBytes;
  capi::put(spec, c, struct_size);
}

void reckoner_archetype_init(reckoner_archetype* archetype, std::uint32_t struct_size) {
  const Archetype defaults;
  reckoner_archetype c{};
  c.name = "entity";
  c.threshold_m = defaults.threshold_m;
  c.threshold_rad = defaults.threshold_rad;
  c.max_speed_mps = defaults.max_speed_mps;
  c.world_size_m = defaults.world_size_m;
  c.has_orientation = defaults.has_orientation ? 1 : 0;
  c.never_reverses = defaults.never_reverses ? 1 : 0;
  capi::put(archetype, c, struct_size);
}

void reckoner_grant_init(reckoner_grant* grant, std::uint32_t struct_size) {
  capi::put(grant, reckoner_grant{}, struct_size);
}

void reckoner_server_config_init(reckoner_server_config* config, std::uint32_t struct_size) {
  const ServerConfig server;
  const ServerSecurity security{.key = {}};
  reckoner_server_config c{};
  c.game = security.game;
  c.peers_per_address = security.peers_per_address;
  c.handshakes_per_second = security.handshakes_per_second;
  c.tick_rate_hz = server.tick_rate_hz;
  c.epoch_s = server.epoch_s;
  c.max_clients = server.max_clients;
  c.max_entities = server.max_entities;
  c.bytes_per_second = server.bytes_per_second;
  c.follow_link = server.follow_link ? 1 : 0;
  c.threads = server.threads;
  c.heartbeat_s = server.heartbeat_s;
  c.join_timeout_s = server.join_timeout_s;
  c.updates_per_second = server.updates_per_second;
  c.fixed_rate_hz = server.fixed_rate_hz;
  c.rewind_s = server.rewind_s;
  c.interest_radius_m = server.interest.radius_m;
  c.interest_hysteresis = server.interest.hysteresis;
  c.interest_level_distance_m[0] = server.interest.level_distance_m[0];
  c.interest_level_distance_m[1] = server.interest.level_distance_m[1];
  c.interest_interval_s = server.interest.interval_s;
  const TransportLimits limits;
  c.resume_s = server.resume_s;
  c.tokens_per_second = security.tokens_per_second;
  c.sessions_per_client = security.sessions_per_client;
  c.used_tokens = security.used_tokens;
  c.used_tokens_per_client = static_cast<std::uint32_t>(security.used_tokens_per_client);
  c.limit_datagrams_per_second = limits.datagrams_per_second;
  c.limit_bytes_per_second = limits.bytes_per_second;
  c.limit_address_datagrams_per_second = limits.address_datagrams_per_second;
  c.limit_address_bytes_per_second = limits.address_bytes_per_second;
  c.limit_burst_s = limits.burst_s;
  c.limit_message_bytes = limits.message_bytes;
  c.limit_waiting_bytes = limits.waiting_bytes;
  c.limit_backlog_bytes = limits.backlog_bytes;
  c.limit_waiting_events = limits.waiting_events;
  c.ticket_s = security.ticket_s;
  c.half_open_s = security.half_open_s;
  c.limit_waiting_event_bytes = limits.waiting_event_bytes;
  c.limit_silence_s = limits.silence_s;
  c.log_least = RECKONER_LOG_INFO;
  capi::put(config, c, struct_size);
}

void reckoner_ownership_rules_init(reckoner_ownership_rules* rules, std::uint32_t struct_size) {
  const OwnershipRules defaults;
  reckoner_ownership_rules c{};
  c.policy = static_cast<std::int32_t>(defaults.policy);
  c.gone = static_cast<std::int32_t>(defaults.gone);
  c.max_acceleration_mps2 = defaults.max_acceleration_mps2;
  c.max_updates_per_s = defaults.max_updates_per_s;
  c.silence_s = defaults.silence_s;
  c.frame_reach_m = defaults.frame_reach_m;
  capi::put(rules, c, struct_size);
}

void reckoner_route_config_init(reckoner_route_config* config, std::uint32_t struct_size) {
  const RouteDefinition defaults;
  reckoner_route_config c{};
  c.kind = static_cast<std::int32_t>(defaults.kind);
  c.wrap = static_cast<std::int32_t>(defaults.wrap);
  c.facing = static_cast<std::int32_t>(defaults.facing);
  c.knots = static_cast<std::int32_t>(defaults.knots);
  c.passes = defaults.passes;
  c.up[2] = 1.0;
  c.orientation[3] = 1.0;
  c.angle_limit_rad = -1.0;
  capi::put(config, c, struct_size);
}

void reckoner_playout_init(reckoner_playout* playout, std::uint32_t struct_size) {
  const PlayoutConfig defaults;
  reckoner_playout p{};
  p.mode = static_cast<std::int32_t>(defaults.mode);
  p.delay_s = defaults.delay_s;
  p.max_delay_s = defaults.max_delay_s;
  p.blend_frames = defaults.blend_frames;
  p.frame_rate_hz = defaults.frame_rate_hz;
  capi::put(playout, p, struct_size);
}

void reckoner_client_config_init(reckoner_client_config* config, std::uint32_t struct_size) {
  const ClientConfig client;
  reckoner_client_config c{};
  c.mode = static_cast<std::int32_t>(client.playout.mode);
  c.delay_s = client.playout.delay_s;
  c.max_delay_s = client.playout.max_delay_s;
  c.blend_frames = client.playout.blend_frames;
  c.frame_rate_hz = client.playout.frame_rate_hz;
  c.ack_interval_s = client.ack_interval_s;
  c.silence_s = client.silence_s;
  c.unconfirmed_s = client.unconfirmed_s;
  c.owned_updates_per_second = client.owned_updates_per_second;
  c.log_least = RECKONER_LOG_INFO;
  c.reconnect_silence_s = client.reconnect.silence_s;
  c.reconnect_first_wait_s = client.reconnect.first_wait_s;
  c.reconnect_growth = client.reconnect.growth;
  c.reconnect_most_wait_s = client.reconnect.most_wait_s;
  c.reconnect_jitter = client.reconnect.jitter;
  c.reconnect_attempt_s = client.reconnect.attempt_s;
  c.reconnect_give_up_s = client.reconnect.give_up_s;
  capi::put(config, c, struct_size);
}
