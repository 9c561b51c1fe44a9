// SPDX-License-Identifier: MIT
#include "harness/prediction/football_run.hpp"

#include "harness/prediction/football_player.hpp"
#include "harness/prediction/football_server.hpp"
#include "harness/prediction/football_summary.hpp"
#include "harness/sim/sim_transport.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

namespace reckoner::harness::football {
namespace {

class FootballRun {
 public:
  explicit FootballRun(const FootballOptions& options)
      : options_(options), network_(network_config(options)), server_(options, network_.server()) {
    for (std::size_t i = 0; i < kCars; ++i) {
      transports_.push_back(&network_.add_client(kProtocolVersion));
      players_.push_back(std::make_unique<FootballPlayer>(options, i, *transports_.back(), server_));
    }
  }

  std::vector<FootballFigures> run() {
    advance_to(kWarmUpS);
    const Counters before = counters();
    advance_to(kWarmUpS + options_.seconds);
    const Counters after = counters();
    std::vector<const PlayerRecord*> records;
    for (const auto& player : players_)
      records.push_back(&player->record());
    return summarise(options_, server_, records, before, after);
  }

 private:
  static SimNetworkConfig network_config(const FootballOptions& options) {
    SimNetworkConfig config;
    config.links = options.links;
    config.seed = options.seed;
    return config;
  }

  void advance_to(double end_s) {
    for (;;) {
      const double tick_s = server_.next_tick_s();
      // Each player draws at its own phase.
      std::size_t drawing = 0;
      double picture_s = picture_time(0);
      for (std::size_t i = 1; i < kCars; ++i) {
        if (picture_time(i) >= picture_s) continue;
        picture_s = picture_time(i);
        drawing = i;
      }
      const double next_s = std::min({tick_s, picture_s, network_.next_event_s()});
      if (next_s > end_s) return;
      network_.advance(std::max(next_s, network_.now_s()));
      if (network_.server_has_events()) server_.receive(network_.now_s());
      for (std::size_t i = 0; i < kCars; ++i) {
        if (network_.client_has_events(i)) players_[i]->update(network_.now_s());
      }
      if (tick_s <= next_s) {
        server_.tick(tick_s);
      } else if (picture_s <= next_s) {
        ++pictures_[drawing];
        players_[drawing]->picture(picture_s);
      }
    }
  }
  [[nodiscard]] double picture_time(std::size_t player) const {
    const double phase = (static_cast<double>(player) + 0.37) / kCars;
    return (static_cast<double>(pictures_[player]) + phase) / options_.frame_rate_hz;
  }

  [[nodiscard]] Counters counters() {
    Counters out;
    for (std::size_t i = 0; i < kCars; ++i) {
      out.up_bytes += transports_[i]->stats().payload_bytes_sent;
      out.up_wire_bytes += transports_[i]->stats().wire_bytes_sent;
      const auto stats = server_.server().prediction_stats(server_.client(i));
      if (!stats) continue;
      out.ticks += stats->ticks;
      out.ticks_repeated += stats->ticks_repeated;
    }
    out.down_bytes = network_.server().stats().payload_bytes_sent;
    out.down_wire_bytes = network_.server().stats().wire_bytes_sent;
    return out;
  }

  FootballOptions options_;
  SimNetwork network_;
  FootballServer server_;
  std::vector<Transport*> transports_;
  std::vector<std::unique_ptr<FootballPlayer>> players_;
  std::array<std::uint64_t, kCars> pictures_{};
};

}  // namespace

std::vector<FootballFigures> run_football(const FootballOptions& options) {
  return FootballRun(options).run();
}

}  // namespace reckoner::harness::football
