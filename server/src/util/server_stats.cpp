// SPDX-License-Identifier: MIT
#include <reckoner/server/server.hpp>

namespace reckoner {

PublishCauses& operator+=(PublishCauses& total, const PublishCauses& part) {
  total.first += part.first;
  total.owner += part.owner;
  total.teleport += part.teleport;
  total.frame += part.frame;
  total.route += part.route;
  total.due += part.due;
  return total;
}

ServerStats& operator+=(ServerStats& total, const ServerStats& part) {
  total.ticks += part.ticks;
  total.publishes += part.publishes;
  total.published_for += part.published_for;
  total.updates_sent += part.updates_sent;
  total.full_updates_sent += part.full_updates_sent;
  total.repairs_sent += part.repairs_sent;
  total.datagrams_sent += part.datagrams_sent;
  total.state_bytes_sent += part.state_bytes_sent;
  total.update_bits_sent += part.update_bits_sent;
  total.route_updates_sent += part.route_updates_sent;
  total.route_bits_sent += part.route_bits_sent;
  total.route_entity_ticks += part.route_entity_ticks;
  total.field_changes_sent += part.field_changes_sent;
  total.field_repairs_sent += part.field_repairs_sent;
  total.field_bits_sent += part.field_bits_sent;
  total.messages_sent += part.messages_sent;
  total.messages_dropped += part.messages_dropped;
  total.messages_received += part.messages_received;
  total.messages_refused += part.messages_refused;
  total.events_discarded += part.events_discarded;
  total.datagrams_lost += part.datagrams_lost;
  total.malformed += part.malformed;
  total.times_refused += part.times_refused;
  total.refusals += part.refusals;
  return total;
}

}  // namespace reckoner
