// SPDX-License-Identifier: MIT
#include "programs/server/metrics.hpp"

#include "net/src/messages/messages.hpp"
#include "programs/server/exposition.hpp"
#include "reckoning/src/statistics/quantile.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace reckoner::program {
namespace {

constexpr double kRefreshS = 0.25;
constexpr std::size_t kLooksPerTick = 16;

// A server that has run no tick for this time is unhealthy, because it has missed several heartbeats.
constexpr double kUnhealthyAfterS = 2.0;

Exposition::Parts by_reason(const RefusalCounts& counts) {
  Exposition::Parts parts;
  for (std::size_t i = 0; i < RefusalCounts::kReasons; ++i) {
    const auto why = static_cast<Refusal>(i);
    parts.emplace_back(name_of(why), counts[why]);
  }
  return parts;
}

// How old the newest data are when the client gets them, s.
double lag_s(const SessionStats& client) {
  return client.round_trip_s / 2.0 + client.sent_age_s + client.behind_s;
}

// The figures of the connected clients with the largest lag, at most `most`, largest first.
std::vector<SessionStats> worst_clients(const Server& server, std::size_t most) {
  std::vector<SessionStats> all;
  if (most == 0) return all;
  for (const ClientId client : server.clients()) {
    if (const auto stats = server.session_stats(client); stats && stats->connected) all.push_back(*stats);
  }
  const auto count = static_cast<std::ptrdiff_t>(std::min(most, all.size()));
  std::partial_sort(all.begin(), all.begin() + count, all.end(),
                    [](const SessionStats& a, const SessionStats& b) { return lag_s(a) > lag_s(b); });
  all.resize(static_cast<std::size_t>(count));
  return all;
}

// Adds one gauge for each figure and client, labelled with the client's id.
void add_clients(Exposition& page, const std::vector<SessionStats>& clients) {
  const auto add = [&](const std::string& name, const std::string& help, auto value) {
    std::vector<std::pair<std::string, double>> parts;
    parts.reserve(clients.size());
    for (const SessionStats& client : clients)
      parts.emplace_back(std::to_string(client.client.value), value(client));
    page.gauges(name, help, "client", parts);
  };
  add("reckoner_client_round_trip_seconds", "Smoothed round trip.",
      [](const SessionStats& c) { return c.round_trip_s; });
  add("reckoner_client_loss_ratio", "Share of recent datagrams that were lost.",
      [](const SessionStats& c) { return c.loss; });
  add("reckoner_client_sent_bytes_per_second", "Bytes sent in the last second, including headers.",
      [](const SessionStats& c) { return c.sent_bytes_per_second; });
  add("reckoner_client_budget_bytes_per_second", "The most that is sent to the client at present.",
      [](const SessionStats& c) { return c.budget_bytes_per_second; });
  add("reckoner_client_queue", "Motions, spawns and reliable messages that wait for the client.",
      [](const SessionStats& c) {
        return static_cast<double>(c.queued_motions + c.queued_spawns + c.queued_messages);
      });
  add("reckoner_client_sent_age_seconds", "Age of recently sent motions when they were sent.",
      [](const SessionStats& c) { return c.sent_age_s; });
  add("reckoner_client_behind_seconds", "How long the client has lacked the oldest data that it lacks.",
      [](const SessionStats& c) { return c.behind_s; });
}

// Archetypes and fields are declared, so the number of labels is bounded. Entities are no labels.
void add_traffic(Exposition& page, const SentTraffic& traffic, std::span<const Archetype> archetypes) {
  using Parts = std::vector<std::pair<Exposition::Labels, double>>;
  Parts bytes, items, field_bytes, field_values;
  const auto add = [&](const std::string& archetype, std::size_t content, const SentAmount& amount) {
    const Exposition::Labels labels{{"archetype", archetype},
                                    {"content", std::string(name_of(static_cast<SentContent>(content)))}};
    bytes.emplace_back(labels, static_cast<double>(amount.bits) / 8.0);
    items.emplace_back(labels, static_cast<double>(amount.count));
  };
  for (std::size_t i = 0; i < traffic.archetypes.size(); ++i) {
    const ArchetypeTraffic& part = traffic.archetypes[i];
    const Archetype& archetype = archetypes[i];
    for (std::size_t content = 0; content < kEntityContents; ++content)
      add(archetype.name, content, part.by_content[content]);
    for (std::size_t field = 0; field < part.fields.size(); ++field) {
      const Exposition::Labels labels{{"archetype", archetype.name}, {"field", archetype.fields[field].name}};
      field_bytes.emplace_back(labels, static_cast<double>(part.fields[field].bits) / 8.0);
      field_values.emplace_back(labels, static_cast<double>(part.fields[field].count));
    }
  }
  for (std::size_t content = kEntityContents; content < kContents; ++content)
    add("", content, traffic.by_content[content]);
  page.counters("reckoner_sent_bytes_total",
                "Payload bytes of state datagrams by archetype and content. What belongs to no archetype has "
                "an empty label.",
                bytes);
  page.counters(
      "reckoner_sent_items_total",
      "Motions, spawns, field values, ends, messages, datagrams with parts of the stream of reliable "
      "messages, and datagrams (header).",
      items);
  page.counters("reckoner_sent_field_bytes_total",
                "Bytes of changed values of fields, part of the content 'field'.", field_bytes);
  page.counters("reckoner_sent_field_values_total", "Changed values of fields.", field_values);
}

void add_cluster(Exposition& page, const ClusterFigures& c) {
  page.gauge("reckoner_cluster_connected",
             "1 while there is a connection to the bus and the other processes know this one, otherwise 0.",
             c.connected ? 1.0 : 0.0);
  page.gauge("reckoner_cluster_held_cells", "Cells that this simulator holds.",
             static_cast<double>(c.held_cells));
  page.gauge("reckoner_cluster_held_entities", "Entities that this simulator moves.",
             static_cast<double>(c.held_entities));
  page.gauge("reckoner_cluster_shown_cells", "Cells to which this gateway subscribes.",
             static_cast<double>(c.shown_cells));
  std::vector<std::pair<std::string, double>> epochs;
  for (const auto& [cell, epoch] : c.epochs)
    epochs.emplace_back(std::to_string(cell), epoch);
  page.gauges("reckoner_cluster_cell_epoch", "Epoch of each held cell.", "cell", epochs);
  page.counters("reckoner_cluster_handovers_total", "Entities that changed their simulator, by direction.",
                "direction", {{"in", c.handovers_in}, {"out", c.handovers_out}, {"adopted", c.adopted}});
  page.counters("reckoner_cluster_writes_refused_total",
                "Refused writes: those of this process that another one had overtaken, and those of other "
                "processes with an old epoch.",
                "writer", {{"this", c.writes_refused}, {"other", c.stale_refused}});
  page.counters("reckoner_cluster_refused_total",
                "What was refused: claims that the table of epochs did not confirm, messages of unknown "
                "processes, and game messages beyond the limits of their sender.",
                "reason",
                {{"unconfirmed", c.unconfirmed_refused},
                 {"unknown", c.unknown_refused},
                 {"message", c.messages_refused}});
  page.counter("reckoner_cluster_table_reads_total", "Reads of tables to confirm what other processes say.",
               c.table_reads);
  page.counters("reckoner_cluster_bus_bytes_total", "Payload bytes on the bus.", "direction",
                {{"sent", c.bus_bytes_sent}, {"received", c.bus_bytes_received}});
  page.counter("reckoner_cluster_bus_dropped_total", "Messages that this process received too slowly.",
               c.bus_dropped);
  page.counter("reckoner_cluster_gaps_total", "Missing messages, found by their sequence numbers.", c.gaps);
  page.counter("reckoner_cluster_repairs_total", "Snapshots that were asked for.", c.repairs);
  page.counter("reckoner_cluster_malformed_total", "Messages from the bus that no correct process sends.",
               c.malformed);
  page.gauge("reckoner_cluster_lag_seconds", "Mean age of motions when they arrive on the bus.", c.lag_s);
}

}  // namespace

void DurationHistogram::add(double seconds) {
  const auto* bound = std::lower_bound(kBounds_s.begin(), kBounds_s.end(), seconds);
  ++counts_[static_cast<std::size_t>(bound - kBounds_s.begin())];
  sum_s_ += std::max(0.0, seconds);
}

std::array<std::uint64_t, DurationHistogram::kBounds_s.size() + 1> DurationHistogram::cumulative() const {
  auto total = counts_;
  for (std::size_t i = 1; i < total.size(); ++i)
    total[i] += total[i - 1];
  return total;
}

void RecentValues::add(double value) {
  if (values_.size() < kCapacity) {
    values_.push_back(value);
  } else {
    values_[next_] = value;
    next_ = (next_ + 1) % kCapacity;
  }
}

double RecentValues::quantile(double q) const {
  std::vector<double> values = values_;
  return reckoner::quantile(values, q);
}

ServerMetrics::ServerMetrics(double tick_rate_hz, double started_s, std::size_t most_clients)
    : tick_rate_hz_(tick_rate_hz),
      started_s_(started_s),
      most_clients_(most_clients),
      last_tick_s_(started_s) {}

void ServerMetrics::note_tick(const Server& server, const TransportStats& wire, const Played& played,
                              double now_s, double late_s, double took_s) {
  last_tick_s_ = now_s;
  now_.late.add(late_s);
  now_.took.add(took_s);
  sample_entities(server, played.ids);
  if (now_s - shown_at_s_ < kRefreshS) return;
  shown_at_s_ = now_s;
  now_.up_s = now_s - started_s_;
  now_.clients = server.client_count();
  now_.entities = server.entity_count();
  now_.stats = server.stats();
  now_.traffic = server.traffic();
  if (now_.archetypes == nullptr) {
    const auto all = server.archetypes();
    now_.archetypes = std::make_shared<const std::vector<Archetype>>(all.begin(), all.end());
  }
  now_.wire = wire;
  now_.poses_refused = played.refused;
  now_.worst_clients = worst_clients(server, most_clients_);
  const std::lock_guard guard(lock_);
  shown_ = now_;
}

// Samples a few entities in every tick, in turn.
void ServerMetrics::sample_entities(const Server& server, std::span<const EntityId> ids) {
  for (std::size_t i = 0; i < std::min(kLooksPerTick, ids.size()); ++i) {
    next_entity_ = (next_entity_ + 1) % ids.size();
    const auto debug = server.debug(ids[next_entity_]);
    if (!debug) continue;
    now_.error_m.add(debug->error_m);
    now_.error_rad.add(debug->error_rad);
    now_.threshold_m.add(debug->threshold_m);
    now_.age_s.add(debug->age_s);
  }
}

void ServerMetrics::note(const ServerEvent& event) {
  switch (event.kind) {
    case ServerEvent::Kind::client_joined:
      ++now_.events.joined;
      break;
    case ServerEvent::Kind::client_left:
      ++now_.events.left;
      break;
    case ServerEvent::Kind::client_refused:
      ++now_.events.refused;
      break;
    case ServerEvent::Kind::client_lost:
      ++now_.events.lost;
      break;
    case ServerEvent::Kind::client_back:
      ++now_.events.resumed;
      break;
    case ServerEvent::Kind::owner_corrected:
      ++now_.events.owner_corrected;
      break;
    case ServerEvent::Kind::owner_refused:
      ++now_.events.owner_refused;
      break;
  }
}

StatusPage::Health ServerMetrics::health(double now_s) const {
  if (stopping_) return {false, "stopping"};
  const double silent_s = now_s - last_tick_s_;
  const bool well = silent_s < kUnhealthyAfterS + 2.0 / tick_rate_hz_;
  return {well, well ? "ok" : fmt::format("no tick for {:.1f} s", silent_s)};
}

std::string ServerMetrics::metrics() const {
  Shown s;
  {
    const std::lock_guard guard(lock_);
    s = shown_;
  }
  Exposition page;
  page.gauge("reckoner_info", "Always 1; the labels are the versions of Reckoner and of its protocol.", 1.0,
             {{"version", RECKONER_VERSION}, {"protocol", std::to_string(kProtocolVersion)}});
  page.gauge("reckoner_uptime_seconds", "Seconds since the server started.", s.up_s);
  page.gauge("reckoner_tick_rate_hertz", "Configured ticks per second.", tick_rate_hz_);
  page.gauge("reckoner_clients", "Connected clients.", static_cast<double>(s.clients));
  page.gauge("reckoner_entities", "Entities in the world.", static_cast<double>(s.entities));
  page.counter("reckoner_ticks_total", "Ticks run.", s.stats.ticks);
  page.histogram("reckoner_tick_lateness_seconds", "How late ticks began.", s.late);
  page.histogram("reckoner_tick_duration_seconds", "How long ticks took, including the game and sending.",
                 s.took);
  page.counters("reckoner_client_events_total", "Events of clients, by kind.", "event",
                {{"joined", s.events.joined},
                 {"left", s.events.left},
                 {"refused", s.events.refused},
                 {"lost", s.events.lost},
                 {"back", s.events.resumed},
                 {"owner_corrected", s.events.owner_corrected},
                 {"owner_refused", s.events.owner_refused}});
  const PublishCauses& why = s.stats.published_for;
  page.counters("reckoner_publishes_total", "Published motions, by cause. Each may be sent to many clients.",
                "cause",
                {{"first", why.first},
                 {"owner", why.owner},
                 {"teleport", why.teleport},
                 {"frame", why.frame},
                 {"route", why.route},
                 {"due", why.due}});
  page.counters("reckoner_updates_sent_total", "Motions sent, counted for each client, by cause.", "cause",
                {{"publish", s.stats.updates_sent - s.stats.repairs_sent}, {"repair", s.stats.repairs_sent}});
  page.counter("reckoner_full_updates_sent_total", "Motions sent without reference to an earlier motion.",
               s.stats.full_updates_sent);
  page.counters("reckoner_field_changes_sent_total", "Values of user fields sent, by cause.", "cause",
                {{"change", s.stats.field_changes_sent - s.stats.field_repairs_sent},
                 {"repair", s.stats.field_repairs_sent}});
  page.counters("reckoner_messages_total", "Game messages, by outcome.", "outcome",
                {{"sent", s.stats.messages_sent},
                 {"dropped", s.stats.messages_dropped},
                 {"received", s.stats.messages_received},
                 {"refused", s.stats.messages_refused}});
  page.counter("reckoner_state_datagrams_sent_total", "State datagrams passed to the transport.",
               s.stats.datagrams_sent);
  page.counter("reckoner_state_datagrams_lost_total", "State datagrams that were found lost.",
               s.stats.datagrams_lost);
  page.counter("reckoner_state_bytes_sent_total", "Payload bytes of state datagrams.",
               s.stats.state_bytes_sent);
  if (s.archetypes != nullptr) add_traffic(page, s.traffic, *s.archetypes);
  page.counters("reckoner_wire_bytes_total", "Bytes of UDP datagrams, including all headers.", "direction",
                {{"sent", s.wire.wire_bytes_sent}, {"received", s.wire.wire_bytes_received}});
  page.counters("reckoner_wire_datagrams_total", "UDP datagrams.", "direction",
                {{"sent", s.wire.datagrams_sent}, {"received", s.wire.datagrams_received}});
  page.counters("reckoner_datagrams_refused_total", "Datagrams that the transport refused, by reason.",
                "reason", by_reason(s.wire.refusals));
  page.counters("reckoner_payloads_refused_total", "Payloads of clients that the server refused, by reason.",
                "reason", by_reason(s.stats.refusals));
  page.counter("reckoner_malformed_total", "Refused payloads that no honest client sends.",
               s.stats.malformed);
  page.counter("reckoner_poses_refused_total", "Invalid poses from the game.", s.poses_refused);
  page.counter("reckoner_address_changes_total", "Clients that continued after they proved a new address.",
               s.wire.address_changes);
  page.counter("reckoner_challenges_total", "Requests to join that were answered with a challenge.",
               s.wire.challenges);
  page.counter(
      "reckoner_system_drops_total",
      "Datagrams that the system dropped because they were empty or too long, or its buffer was full.",
      s.wire.system_drops);
  page.counter("reckoner_socket_errors_total", "Errors of the socket or of one peer.", s.wire.service_errors);
  page.quantiles("reckoner_error_metres", "Distance between published motions and the truth.", s.error_m);
  page.quantiles("reckoner_error_radians", "Angle between published orientations and the truth.",
                 s.error_rad);
  page.quantiles("reckoner_threshold_metres",
                 "Largest allowed distance between published motions and the truth.", s.threshold_m);
  page.quantiles("reckoner_motion_age_seconds", "Age of published motions.", s.age_s);
  add_clients(page, s.worst_clients);
  if (s.cluster) add_cluster(page, *s.cluster);
  return page.text();
}

}  // namespace reckoner::program
