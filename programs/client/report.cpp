// SPDX-License-Identifier: MIT
#include "programs/client/report.hpp"

#include "programs/common/sessions/refusals.hpp"
#include "scenario/trace/output_file.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace reckoner::program {

std::optional<Error> write_figures(const std::string& path, const ClientStats& s, const TransportStats& wire,
                                   const Drawn& drawn) {
  const double seconds = std::max(1e-9, drawn.entity_seconds);
  const nlohmann::json json = {
      {"frames", drawn.frames},
      {"entity_seconds", drawn.entity_seconds},
      {"updates", s.updates_applied},
      {"updates_stale", s.updates_stale},
      {"datagrams", s.datagrams_received},
      {"datagrams_lost", s.datagrams_lost},
      {"payload_bytes", s.state_bytes_received},
      {"wire_bytes", wire.wire_bytes_received},
      {"wire_bytes_up", wire.wire_bytes_sent},
      {"malformed", s.malformed},
      {"connections_lost", s.connections_lost},
      {"entities_refused", s.entities_refused},
      {"clock_rate", s.clock_rate},
      {"payloads_refused", refusals_json(s.refusals)},
      {"datagrams_refused", refusals_json(wire.refusals)},
      {"updates_per_entity_s", static_cast<double>(s.updates_applied) / seconds},
      {"payload_bytes_per_entity_s", static_cast<double>(s.state_bytes_received) / seconds},
      {"wire_bytes_per_entity_s", static_cast<double>(wire.wire_bytes_received) / seconds},
      {"round_trip_ms", s.round_trip_s * 1000.0},
      {"delay_ms", s.delay_s * 1000.0}};
  return scenario::write_file(path, json.dump(2) + "\n");
}

void print_summary(const ClientStats& s, const TransportStats& wire, const Drawn& drawn) {
  const double seconds = std::max(1e-9, drawn.entity_seconds);
  RefusalCounts refused = s.refusals;
  refused += wire.refusals;
  fmt::print(
      "{} frames; {} updates in {} datagrams ({} lost); per entity and second {:.1f} updates, {:.0f} bytes, "
      "{:.0f} on "
      "the wire\nround trip {:.1f} ms, shown {:.1f} ms late; {}\n",
      drawn.frames, s.updates_applied, s.datagrams_received, s.datagrams_lost,
      static_cast<double>(s.updates_applied) / seconds, static_cast<double>(s.state_bytes_received) / seconds,
      static_cast<double>(wire.wire_bytes_received) / seconds, s.round_trip_s * 1000.0, s.delay_s * 1000.0,
      refusals_text(refused));
}

}  // namespace reckoner::program
