// SPDX-License-Identifier: MIT
#include "programs/client/statistics.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace reckoner::program {
namespace {

double share_lost(std::uint64_t lost, std::uint64_t received) {
  const std::uint64_t all = lost + received;
  return all == 0 ? 0.0 : 100.0 * static_cast<double>(lost) / static_cast<double>(all);
}

}  // namespace

void LiveStatistics::note_picture(const Client& client, std::span<const ShownEntity> shown) {
  entities_ = shown.size();
  std::map<EntityId, double> motions_s;
  for (const ShownEntity& entity : shown) {
    const auto debug = client.debug(entity.id);
    if (!debug) continue;
    motions_s[entity.id] = debug->motion_time_s;
    const auto before = motions_s_.find(entity.id);
    if (before != motions_s_.end() && before->second != debug->motion_time_s)
      corrections_m_.push_back(debug->blend_m);
  }
  motions_s_ = std::move(motions_s);
}

std::optional<std::string> LiveStatistics::line(const Client& client, const TransportStats& wire,
                                                double local_s) {
  if (last_ && local_s - last_->local_s < 1.0) return std::nullopt;
  const auto server_s = client.server_time_s();
  Seen now{local_s, std::nullopt, client.stats(), wire};
  if (server_s) now.clock_s = *server_s - local_s;
  if (!last_) {
    started_s_ = local_s;
    last_ = now;
    return std::nullopt;
  }
  const double seconds = now.local_s - last_->local_s;
  const auto rate = [&](std::uint64_t after, std::uint64_t before) {
    return static_cast<double>(after - before) / seconds;
  };
  const ClientStats& c = now.client;
  const ClientStats& b = last_->client;
  const std::uint64_t lost = c.datagrams_lost > b.datagrams_lost ? c.datagrams_lost - b.datagrams_lost : 0;
  std::string clock = "unknown";
  if (now.clock_s && last_->clock_s)
    clock = fmt::format("{:+.2f} ms/s", (*now.clock_s - *last_->clock_s) * 1000.0 / seconds);
  double p95_m = 0.0;
  if (!corrections_m_.empty()) {
    std::sort(corrections_m_.begin(), corrections_m_.end());
    p95_m = corrections_m_[(corrections_m_.size() - 1) * 95 / 100];
  }
  std::string line = fmt::format(
      "{:.0f} s: {} shown, {:.1f} updates/s, {:.2f} kB/s down, {:.2f} up, loss {:.1f} %, round trip {:.1f} "
      "ms, "
      "shown {:.0f} ms late, clock {}, {:.1f} corrections/s, p95 {:.3f} m",
      local_s - started_s_, entities_, rate(c.updates_applied, b.updates_applied),
      rate(wire.wire_bytes_received, last_->wire.wire_bytes_received) / 1000.0,
      rate(wire.wire_bytes_sent, last_->wire.wire_bytes_sent) / 1000.0,
      share_lost(lost, c.datagrams_received - b.datagrams_received), c.round_trip_s * 1000.0,
      c.delay_s * 1000.0, clock, static_cast<double>(corrections_m_.size()) / seconds, p95_m);
  corrections_m_.clear();
  last_ = now;
  return line;
}

}  // namespace reckoner::program
