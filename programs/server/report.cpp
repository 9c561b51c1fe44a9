// SPDX-License-Identifier: MIT
#include "programs/server/report.hpp"

#include "programs/common/sessions/refusals.hpp"
#include "scenario/trace/output_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace reckoner::program {

void print_summary(const ServerStats& s, const TransportStats& wire, const RunTimes& times) {
  RefusalCounts refused = s.refusals;
  refused += wire.refusals;
  fmt::print(
      "{} ticks in {:.1f} s (latest {:.1f} ms late), {} motions published, {} updates sent ({} repairs)\n"
      "{} datagrams, {} lost; {} state bytes, {} bytes on the wire; {}\n",
      s.ticks, times.seconds, times.worst_late_s * 1000.0, s.publishes, s.updates_sent, s.repairs_sent,
      s.datagrams_sent, s.datagrams_lost, s.state_bytes_sent, wire.wire_bytes_sent, refusals_text(refused));
}

std::optional<Error> write_counts(const std::string& path, const ServerStats& s, const TransportStats& wire,
                                  const RunTimes& times) {
  const nlohmann::json json = {{"ticks", s.ticks},
                               {"publishes", s.publishes},
                               {"updates_sent", s.updates_sent},
                               {"repairs_sent", s.repairs_sent},
                               {"datagrams_sent", s.datagrams_sent},
                               {"datagrams_lost", s.datagrams_lost},
                               {"state_bytes_sent", s.state_bytes_sent},
                               {"update_bits_sent", s.update_bits_sent},
                               {"route_updates_sent", s.route_updates_sent},
                               {"route_bits_sent", s.route_bits_sent},
                               {"route_entity_ticks", s.route_entity_ticks},
                               {"transport_datagrams_sent", wire.datagrams_sent},
                               {"transport_datagrams_received", wire.datagrams_received},
                               {"wire_bytes_sent", wire.wire_bytes_sent},
                               {"malformed", s.malformed},
                               {"transport_refused", wire.refused},
                               {"payloads_refused", refusals_json(s.refusals)},
                               {"datagrams_refused", refusals_json(wire.refusals)},
                               {"address_changes", wire.address_changes},
                               {"challenges", wire.challenges},
                               {"system_drops", wire.system_drops},
                               {"service_errors", wire.service_errors},
                               {"worst_tick_lateness_ms", times.worst_late_s * 1000.0}};
  return scenario::write_file(path, json.dump(2) + "\n");
}

}  // namespace reckoner::program
