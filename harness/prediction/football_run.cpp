// SPDX-License-Identifier: MIT
#include "harness/prediction/football_run.hpp"

#include "harness/prediction/football_player.hpp"
#include "harness/prediction/football_server.hpp"
#include "harness/prediction/uplink_meter.hpp"
#include "harness/replay/compare.hpp"
#include "harness/sim/sim_transport.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <fmt/core.h>

namespace reckoner::harness::football {
namespace {

class FootballRun {
 public:
  explicit FootballRun(const FootballOptions& options)
      : options_(options), network_(network_config(options)), server_(options, network_.server()) {
    for (std::size_t i = 0; i < options.players; ++i) {
      uplinks_.push_back(std::make_unique<UplinkMeter>(network_.add_client(kProtocolVersion)));
      players_.push_back(std::make_unique<FootballPlayer>(options, i, *uplinks_.back(), server_));
    }
  }

  std::vector<FootballSamples> run() {
    advance_to(kWarmUpS);
    const FootballCounters before = counters();
    advance_to(kWarmUpS + options_.seconds);
    const FootballCounters after = counters();
    std::vector<const PlayerRecord*> records;
    for (const auto& player : players_)
      records.push_back(&player->record());
    std::vector<FootballSamples> all;
    for (std::size_t i = 0; i < (options_.approach == Approach::prediction ? kDisplays : 1); ++i) {
      all.push_back(
          collect_samples(options_, server_.truth(), records, static_cast<Display>(i), before, after));
    }
    return all;
  }

 private:
  static SimNetworkConfig network_config(const FootballOptions& options) {
    SimNetworkConfig config;
    config.links = options.links;
    config.script = options.script;
    config.seed = options.seed;
    config.arrival_times = true;  // the players read their datagrams before each picture, as games do
    return config;
  }

  void advance_to(double end_s) {
    for (;;) {
      const double tick_s = server_.next_tick_s();
      // Each player draws at its own phase.
      std::size_t drawing = 0;
      double picture_s = picture_time(0);
      for (std::size_t i = 1; i < players_.size(); ++i) {
        if (picture_time(i) >= picture_s) continue;
        picture_s = picture_time(i);
        drawing = i;
      }
      const double next_s = std::min({tick_s, picture_s, network_.next_event_s()});
      if (next_s > end_s) return;
      network_.advance(std::max(next_s, network_.now_s()));
      if (network_.server_has_events()) server_.receive(network_.now_s());
      if (tick_s <= next_s) {
        server_.tick(tick_s);
      } else if (picture_s <= next_s) {
        ++pictures_[drawing];
        players_[drawing]->picture(picture_s);
      }
    }
  }
  [[nodiscard]] double picture_time(std::size_t player) const {
    const double phase = (static_cast<double>(player) + 0.37) / static_cast<double>(kCars);
    return (static_cast<double>(pictures_[player]) + phase) / options_.frame_rate_hz;
  }

  [[nodiscard]] FootballCounters counters() {
    FootballCounters out;
    Server& server = server_.server();
    for (std::size_t i = 0; i < players_.size(); ++i) {
      out.up_bits += uplinks_[i]->content_bits();
      out.up_bytes += uplinks_[i]->stats().payload_bytes_sent;
      out.up_wire_bytes += uplinks_[i]->stats().wire_bytes_sent;
      const auto stats = server.prediction_stats(server_.client(i));
      if (!stats) continue;
      out.ticks += stats->ticks;
      out.ticks_repeated += stats->ticks_repeated;
    }
    const bool predicts = options_.approach == Approach::prediction;
    if (predicts)
      out.down_bits = server.traffic().by_content[static_cast<std::size_t>(SentContent::prediction)].bits;
    if (predicts && options_.others_at == OthersAt::stepped)
      out.down_bits += server.traffic().by_content[static_cast<std::size_t>(SentContent::field)].bits;
    if (!predicts || !options_.predicts_ball) out.down_bits += server.traffic_of(server_.id(kBall))->bits();
    // Each player gets the motions of every car. One of them is its own.
    for (std::size_t i = 0; options_.approach == Approach::none && i < players_.size(); ++i)
      out.down_bits += server.traffic_of(server_.id(i))->bits() / players_.size();
    out.down_bytes = network_.server().stats().payload_bytes_sent;
    out.down_wire_bytes = network_.server().stats().wire_bytes_sent;
    return out;
  }

  FootballOptions options_;
  SimNetwork network_;
  FootballServer server_;
  std::vector<std::unique_ptr<UplinkMeter>> uplinks_;
  std::vector<std::unique_ptr<FootballPlayer>> players_;
  std::array<std::uint64_t, kCars> pictures_{};
};

// The games that a seed needs for all methods. Those after `prediction` have others' cars at the simpler
// values of OthersAt, from the one below that of the options.
enum class Game : std::uint8_t { none, ownership, prediction, prediction_simpler, prediction_simplest };

OthersAt others_at(const FootballOptions& options, Game game) {
  const int below = std::max(0, static_cast<int>(game) - static_cast<int>(Game::prediction));
  return static_cast<OthersAt>(static_cast<int>(options.others_at) - below);
}

FootballOptions options_of(FootballOptions options, Game game, std::uint64_t seed) {
  options.seed = seed;
  options.approach = game == Game::none        ? Approach::none
                     : game == Game::ownership ? Approach::ownership
                                               : Approach::prediction;
  options.others_at = others_at(options, game);
  return options;
}

}  // namespace

std::vector<FootballSamples> run_football(const FootballOptions& options) {
  return FootballRun(options).run();
}

std::vector<FootballFigures> play_football(
    const FootballOptions& options, std::span<const std::uint64_t> seeds, std::size_t threads,
    const std::function<void(std::size_t done, std::size_t all)>& progress) {
  const std::size_t games = 3 + static_cast<std::size_t>(options.others_at);
  std::vector<std::vector<FootballSamples>> runs(games * seeds.size());
  std::mutex mutex;
  std::size_t done = 0;
  for_each_parallel(runs.size(), threads, [&](std::size_t i) {
    runs[i] = run_football(options_of(options, static_cast<Game>(i % games), seeds[i / games]));
    const std::scoped_lock lock(mutex);
    ++done;
    if (progress) progress(done, runs.size());
  });
  // All seeds of a game.
  const auto pooled = [&](Game game, Display display) {
    FootballSamples sum;
    for (std::size_t i = static_cast<std::size_t>(game); i < runs.size(); i += games)
      sum += runs[i][static_cast<std::size_t>(display)];
    return sum;
  };
  const FootballSamples snapping = pooled(Game::prediction, Display::snap);
  std::vector<FootballFigures> methods;
  methods.push_back(summarise("no-prediction", pooled(Game::none, Display::reckoner), nullptr));
  methods.push_back(summarise("ownership", pooled(Game::ownership, Display::reckoner), nullptr));
  const std::pair<Display, std::string> displays[] = {
      {Display::snap, "snap"},
      {Display::slowly_exponential, fmt::format("exponential-{}", kSlowSmoothing)},
      {Display::exponential, fmt::format("exponential-{}", options.smoothing)},
      {Display::reckoner, "reckoner"}};
  for (const auto& [display, name] : displays)
    methods.push_back(summarise(name, pooled(Game::prediction, display), &snapping));
  for (std::size_t i = 3; i < games; ++i) {
    const auto game = static_cast<Game>(i);
    const FootballSamples its_snapping = pooled(game, Display::snap);
    methods.push_back(summarise(fmt::format("reckoner-{}", name_of(others_at(options, game))),
                                pooled(game, Display::reckoner), &its_snapping));
  }
  return methods;
}

}  // namespace reckoner::harness::football
