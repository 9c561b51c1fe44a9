// SPDX-License-Identifier: MIT
#include "programs/server/watch/watch_status.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <nlohmann/json.hpp>

namespace reckoner::program {
namespace {

constexpr std::size_t kMaxClients = 48;

double lag_s(const SessionStats& client) {
  return client.round_trip_s / 2.0 + client.sent_age_s + client.behind_s;
}

// Six significant digits are enough for a table.
double rounded(double value) {
  if (value == 0.0 || !std::isfinite(value)) return 0.0;
  const double scale = std::pow(10.0, 5.0 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
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
  return json.dump();
}

}  // namespace reckoner::program
