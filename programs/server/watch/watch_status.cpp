// SPDX-License-Identifier: MIT
#include "programs/server/watch/watch_status.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include <nlohmann/json.hpp>

namespace reckoner::program {
namespace {

constexpr std::size_t kMaxClients = 36;
// Of each list of the traffic: those that cost most.
constexpr std::size_t kMaxArchetypes = 10;
constexpr std::size_t kMaxFields = 10;
constexpr std::size_t kMaxEntities = 10;

double lag_s(const SessionStats& client) {
  return client.round_trip_s / 2.0 + client.sent_age_s + client.behind_s;
}

// Six significant digits are enough for a table.
double rounded(double value) {
  if (value == 0.0 || !std::isfinite(value)) return 0.0;
  const double scale = std::pow(10.0, 5.0 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

// Keeps the `most` parts with the most bits, largest first.
template <class Part>
void keep_largest(std::vector<Part>& parts, std::size_t most) {
  const auto count = static_cast<std::ptrdiff_t>(std::min(most, parts.size()));
  std::partial_sort(parts.begin(), parts.begin() + count, parts.end(),
                    [](const Part& a, const Part& b) { return a.bits > b.bits; });
  parts.resize(static_cast<std::size_t>(count));
}

// What costs bandwidth. All bytes are totals: a page computes rates from the differences.
nlohmann::ordered_json traffic_json(const Server& server) {
  using Json = nlohmann::ordered_json;
  struct Part {
    std::uint64_t bits = 0;
    std::size_t archetype = 0, field = 0;
    EntityId entity{};
  };
  const SentTraffic traffic = server.traffic();
  const std::span archetypes = server.archetypes();
  std::vector<Part> kinds, fields, entities;
  for (std::size_t i = 0; i < traffic.archetypes.size(); ++i) {
    const ArchetypeTraffic& part = traffic.archetypes[i];
    kinds.push_back({.bits = part.bits(), .archetype = i});
    for (std::size_t field = 0; field < part.fields.size(); ++field)
      fields.push_back({.bits = part.fields[field].bits, .archetype = i, .field = field});
  }
  for (const EntityId id : server.entities()) {
    if (const auto part = server.traffic_of(id))
      entities.push_back({.bits = part->bits(), .archetype = part->archetype, .entity = id});
  }
  keep_largest(kinds, kMaxArchetypes);
  keep_largest(fields, kMaxFields);
  keep_largest(entities, kMaxEntities);
  Json json{{"contents", Json::object()},
            {"archetypes", Json::array()},
            {"fields", Json::array()},
            {"entities", Json::array()}};
  for (std::size_t i = 0; i < kContents; ++i)
    json["contents"][std::string(name_of(static_cast<SentContent>(i)))] = traffic.by_content[i].bits / 8;
  for (const Part& part : kinds) {
    const ArchetypeTraffic& of = traffic.archetypes[part.archetype];
    Json bytes = Json::array();
    for (const SentAmount& amount : of.by_content)
      bytes.push_back(amount.bits / 8);
    json["archetypes"].push_back({{"name", archetypes[part.archetype].name}, {"bytes", bytes}});
  }
  for (const Part& part : fields) {
    const Archetype& archetype = archetypes[part.archetype];
    json["fields"].push_back({{"archetype", archetype.name},
                              {"name", archetype.fields[part.field].name},
                              {"values", traffic.archetypes[part.archetype].fields[part.field].count},
                              {"bytes", part.bits / 8}});
  }
  for (const Part& part : entities) {
    json["entities"].push_back({{"id", to_number(part.entity)},
                                {"archetype", archetypes[part.archetype].name},
                                {"bytes", part.bits / 8}});
  }
  return json;
}

}  // namespace

std::string watch_status(const Server& server, double tick_rate_hz, std::size_t watchers) {
  std::vector<SessionStats> clients;
  double sent = 0.0;
  double budget = 0.0;
  for (const ClientId client : server.clients()) {
    const auto stats = server.session_stats(client);
    if (!stats || !stats->connected) continue;
    clients.push_back(*stats);
    sent += stats->sent_bytes_per_second;
    budget += std::min(stats->budget_bytes_per_second, 1e9);
  }
  std::ranges::sort(clients, [](const auto& a, const auto& b) { return lag_s(a) > lag_s(b); });
  const ServerStats& stats = server.stats();
  nlohmann::ordered_json json{{"ticks", stats.ticks},
                              {"tick_rate", tick_rate_hz},
                              {"entities", server.entity_count()},
                              {"clients", clients.size()},
                              {"watchers", watchers},
                              {"publishes", stats.publishes},
                              {"updates_sent", stats.updates_sent},
                              {"repairs_sent", stats.repairs_sent},
                              {"datagrams_lost", stats.datagrams_lost},
                              {"refused", stats.refusals.total()},
                              {"sent_bytes_per_second", rounded(sent)},
                              {"budget_bytes_per_second", rounded(budget)}};
  if (clients.size() > kMaxClients) clients.resize(kMaxClients);
  json["links"] = nlohmann::ordered_json::array();
  for (const SessionStats& one : clients) {
    json["links"].push_back({{"client", one.client.value},
                             {"rtt_s", rounded(one.round_trip_s)},
                             {"jitter_s", rounded(one.round_trip_deviation_s)},
                             {"loss", rounded(one.loss)},
                             {"sent", rounded(one.sent_bytes_per_second)},
                             {"budget", rounded(one.budget_bytes_per_second)},
                             {"queued", one.queued_motions},
                             {"age_s", rounded(one.sent_age_s)},
                             {"behind_s", rounded(one.behind_s)}});
  }
  json["traffic"] = traffic_json(server);
  // A name need not be UTF-8.
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace reckoner::program
