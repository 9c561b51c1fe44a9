// SPDX-License-Identifier: MIT
// Statistics and debug data of a client.
#include "capi/src/client/client_handle.hpp"

using namespace reckoner;
using capi::entity_id;
using capi::with;

namespace {

void fill(const CorrectionDebug& from, reckoner_shown_debug& to) {
  to.corrected = 1;
  to.correction_tick = from.tick;
  to.correction_reason = static_cast<std::int32_t>(from.reason);
  to.correction_cause = static_cast<std::int32_t>(from.cause);
  to.correction_had_result = from.had_result ? 1 : 0;
  to.correction_age_s = from.age_s;
  to.correction_error_m = from.error_m;
  to.correction_error_rad = from.error_rad;
  to.correction_input_late_s = from.input_late_s;
  to.correction_input_tick = from.input_tick;
  to.correction_game_state_differs = from.game_state_differs ? 1 : 0;
}

void fill(const PredictionDebug& from, reckoner_shown_debug& to) {
  to.predicted = 1;
  to.prediction_ticks = from.ticks;
  to.prediction_lead_s = from.lead_s;
  to.prediction_fading_m = from.fading_m;
  to.prediction_newest = from.newest;
  to.prediction_corrections = from.corrections;
  if (from.correction) fill(*from.correction, to);
}

}  // namespace

reckoner_result reckoner_client_get_stats(const reckoner_client* client, reckoner_client_stats* stats) {
  return with(client, [&](const Client& c) {
    const ClientStats& counted = c.stats();
    const TransportStats wire = client->network->stats();
    reckoner_client_stats given{};
    given.datagrams_received = counted.datagrams_received;
    given.datagrams_lost = counted.datagrams_lost;
    given.datagrams_stale = counted.datagrams_stale;
    given.updates_applied = counted.updates_applied;
    given.updates_stale = counted.updates_stale;
    given.malformed = counted.malformed;
    given.unknown_references = counted.unknown_references;
    given.state_bytes_received = counted.state_bytes_received;
    given.corrections = counted.corrections;
    given.mispredictions = counted.mispredictions;
    given.input_lead_s = counted.input_lead_s;
    given.messages_sent = counted.messages_sent;
    given.messages_dropped = counted.messages_dropped;
    given.messages_received = counted.messages_received;
    given.messages_refused = counted.messages_refused;
    given.events_discarded = counted.events_discarded;
    given.wire_bytes_sent = wire.wire_bytes_sent;
    given.wire_bytes_received = wire.wire_bytes_received;
    given.transport_refused = wire.refused;
    given.transport_errors = wire.service_errors;
    given.round_trip_s = counted.round_trip_s;
    given.delay_s = counted.delay_s;
    given.field_changes_applied = counted.field_changes_applied;
    given.field_changes_stale = counted.field_changes_stale;
    given.connections_lost = counted.connections_lost;
    given.messages_abandoned = counted.messages_abandoned;
    given.entities_refused = counted.entities_refused;
    given.times_refused = counted.times_refused;
    given.clock_rate = counted.clock_rate;
    given.wire_datagrams_sent = wire.datagrams_sent;
    given.wire_datagrams_received = wire.datagrams_received;
    given.payload_bytes_sent = wire.payload_bytes_sent;
    given.payload_bytes_received = wire.payload_bytes_received;
    return capi::give(stats, given);
  });
}

reckoner_result reckoner_client_refused(const reckoner_client* client, std::uint32_t reason,
                                        std::uint64_t* payloads, std::uint64_t* datagrams) {
  return with(client, [&](const Client& c) {
    return capi::refused_for(reason, c.stats().refusals, client->network->stats().refusals, payloads,
                             datagrams);
  });
}

reckoner_result reckoner_client_debug(const reckoner_client* client, reckoner_entity entity,
                                      reckoner_shown_debug* debug) {
  if (debug == nullptr) return RECKONER_ERROR_ARGUMENT;
  return with(client, [&](const Client& c) -> reckoner_result {
    if (const auto wrong = capi::check_struct(debug); wrong != RECKONER_OK) return wrong;
    const auto found = c.debug(entity_id(entity));
    if (!found) return RECKONER_NOTHING;
    reckoner_shown_debug given{};
    given.entity = capi::to_c(found->id);
    given.shown = capi::to_c(found->shown);
    given.motion = capi::to_c(found->motion);
    given.shown_time_s = found->shown_time_s;
    given.motion_time_s = found->motion_time_s;
    given.age_s = found->age_s;
    given.blend_m = found->blend_m;
    given.blend_rad = found->blend_rad;
    given.blend_left_s = found->blend_left_s;
    given.threshold_m = found->threshold_m;
    given.threshold_rad = found->threshold_rad;
    given.frame = capi::to_c(found->frame);
    given.fading = found->fading ? 1 : 0;
    given.owned = found->owned ? 1 : 0;
    if (found->prediction) fill(*found->prediction, given);
    return capi::give(debug, given);
  });
}
