// SPDX-License-Identifier: MIT
#include "server/src/server_log.hpp"

#include <cstdint>
#include <string_view>

namespace reckoner {
namespace {

std::uint64_t number(ClientId client) {
  return client.value;
}
std::uint64_t number(PeerId peer) {
  return peer.value;
}

}  // namespace

void ServerLog::threads(unsigned started, unsigned wanted) const {
  if (started < wanted)
    say(sink_, LogLevel::warning, "too few threads",
        {{"threads", std::uint64_t{started}}, {"wanted", std::uint64_t{wanted}}});
}

void ServerLog::connected(PeerId peer) const {
  say(sink_, LogLevel::debug, "client connected", {{"peer", number(peer)}});
}

void ServerLog::joined(ClientId client, PeerId peer) const {
  say(sink_, LogLevel::info, "client joined", {{"client", number(client)}, {"peer", number(peer)}});
}

void ServerLog::refused(PeerId peer, const std::string& why) const {
  say(sink_, LogLevel::warning, "client refused",
      {{"reason", std::string_view(why)}, {"peer", number(peer)}});
}

void ServerLog::left(ClientId client, PeerId peer) {
  behind_.erase(client);
  say(sink_, LogLevel::info, "client left", {{"client", number(client)}, {"peer", number(peer)}});
}

void ServerLog::lost(ClientId client, PeerId peer) const {
  say(sink_, LogLevel::info, "client lost", {{"client", number(client)}, {"peer", number(peer)}});
}

void ServerLog::back(ClientId client, PeerId peer) const {
  say(sink_, LogLevel::info, "client resumed", {{"client", number(client)}, {"peer", number(peer)}});
}

void ServerLog::closing(std::size_t clients) const {
  say(sink_, LogLevel::debug, "closing connections", {{"clients", std::uint64_t{clients}}});
}

void ServerLog::owner_events(const std::deque<ServerEvent>& events, std::size_t first) const {
  for (std::size_t i = first; sink_ && i < events.size(); ++i) {
    const ServerEvent& event = events[i];
    const bool shown = event.kind == ServerEvent::Kind::owner_corrected;
    say(sink_, LogLevel::warning, shown ? "owner corrected" : "owner refused",
        {{"client", number(event.client)}, {"slot", std::uint64_t{event.entity.slot()}}});
  }
}

void ServerLog::missing_velocities(std::span<const Archetype> archetypes,
                                   std::span<const std::uint8_t> missing) {
  for (std::size_t i = 0; i < archetypes.size(); ++i)
    velocities_.note(sink_, archetypes, i, missing[i]);
}

void ServerLog::review(const SessionTable& sessions, const ServerStats& stats, double tick_rate_hz,
                       double now_s) {
  if (!sink_ || !refusals_.due(now_s)) return;
  refusals_.say(sink_, "client payloads refused", stats.refusals);
  for (const auto& session : sessions.all()) {
    const double waits_s = session->behind_ticks() / tick_rate_hz;
    if (waits_s > kBehindS && behind_.insert(session->id()).second) {
      say(sink_, LogLevel::warning, "client has fallen behind",
          {{"client", number(session->id())},
           {"behind_s", waits_s},
           {"bytes_per_second", session->bytes_per_second()}});
    }
    if (waits_s < kCaughtUpS && behind_.erase(session->id()) > 0) {
      say(sink_, LogLevel::info, "client has caught up",
          {{"client", number(session->id())}, {"bytes_per_second", session->bytes_per_second()}});
    }
  }
}

}  // namespace reckoner
