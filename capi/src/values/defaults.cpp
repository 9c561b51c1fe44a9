// SPDX-License-Identifier: MIT
// Fills sized structs with the defaults of the C++ configurations, which are the only place for each.
#include "capi/src/values/boundary.hpp"
#include "capi/src/values/convert.hpp"
#include "capi/src/values/shared_fields.hpp"

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
  reckoner_archetype c{};
  c.name = "entity";
  copy_to_c(capi::kArchetypeFields, c, Archetype{});
  c.floor_up[2] = 1.0;
  capi::put(archetype, c, struct_size);
}

void reckoner_grant_init(reckoner_grant* grant, std::uint32_t struct_size) {
  capi::put(grant, reckoner_grant{}, struct_size);
}

void reckoner_server_config_init(reckoner_server_config* config, std::uint32_t struct_size) {
  reckoner_server_config c{};
  copy_to_c(capi::kServerFields, c, ServerConfig{});
  copy_to_c(capi::kLimitFields, c, TransportLimits{});
  copy_to_c(capi::kSecurityFields, c, ServerSecurity{.key = {}});
  c.log_least = RECKONER_LOG_INFO;
  capi::put(config, c, struct_size);
}

void reckoner_ownership_rules_init(reckoner_ownership_rules* rules, std::uint32_t struct_size) {
  reckoner_ownership_rules c{};
  copy_to_c(capi::kOwnershipFields, c, OwnershipRules{});
  capi::put(rules, c, struct_size);
}

void reckoner_prediction_rules_init(reckoner_prediction_rules* rules, std::uint32_t struct_size) {
  reckoner_prediction_rules c{};
  copy_to_c(capi::kPredictionFields, c, PredictionRules{});
  capi::put(rules, c, struct_size);
}

void reckoner_route_config_init(reckoner_route_config* config, std::uint32_t struct_size) {
  const RouteDefinition defaults;
  reckoner_route_config c{};
  c.kind = static_cast<std::int32_t>(defaults.curve.index());
  c.wrap = static_cast<std::int32_t>(defaults.wrap);
  c.facing = static_cast<std::int32_t>(defaults.facing);
  c.knots = static_cast<std::int32_t>(CatmullRomRoute{}.knots);
  c.passes = ChaikinRoute{}.passes;
  c.up[2] = 1.0;
  c.orientation[3] = 1.0;
  c.angle_limit_rad = -1.0;
  capi::put(config, c, struct_size);
}

reckoner_result reckoner_blend_settings(std::int32_t profile, std::int32_t* blend_curve, double* blend_s) {
  if (profile < RECKONER_PROFILE_ARTICLE || profile > RECKONER_PROFILE_GENTLE || blend_curve == nullptr ||
      blend_s == nullptr)
    return RECKONER_ERROR_ARGUMENT;
  const BlendSettings blend = blend_settings(static_cast<BlendProfile>(profile));
  *blend_curve = static_cast<std::int32_t>(blend.curve);
  *blend_s = blend.duration_s;
  return RECKONER_OK;
}

void reckoner_playout_init(reckoner_playout* playout, std::uint32_t struct_size) {
  reckoner_playout p{};
  copy_to_c(capi::kPlayoutFields, p, PlayoutConfig{});
  capi::put(playout, p, struct_size);
}

void reckoner_client_config_init(reckoner_client_config* config, std::uint32_t struct_size) {
  reckoner_client_config c{};
  copy_to_c(capi::kClientFields, c, ClientConfig{});
  c.log_least = RECKONER_LOG_INFO;
  capi::put(config, c, struct_size);
}
