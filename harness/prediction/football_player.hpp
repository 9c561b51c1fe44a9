// SPDX-License-Identifier: MIT
#pragma once

#include "harness/prediction/error_display.hpp"
#include "harness/prediction/football_bot.hpp"
#include "harness/prediction/football_options.hpp"
#include "harness/prediction/football_picture.hpp"
#include "harness/prediction/football_server.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/client/client.hpp>

namespace reckoner::harness::football {

/// The game of one player: a client, a bot at the keys, and what it sees.
class FootballPlayer {
 public:
  FootballPlayer(const FootballOptions& options, std::size_t car, Transport& transport,
                 const FootballServer& server);

  /// Reads what has arrived, steps the game, and shows a picture.
  void picture(double time_s);

  [[nodiscard]] const PlayerRecord& record() const { return record_; }
  [[nodiscard]] const Client& client() const { return client_; }

 private:
  static constexpr std::size_t kOwn = 0, kOwnBall = 1, kPredictable = 2;
  struct Pressed {
    std::uint64_t picture = 0;
    Tick tick = 0;  // the first tick that uses the keys, if this game steps the car
    std::uint16_t number = 0;
  };
  // A body that this game steps.
  struct Stepped {
    bool is_stepped = false;
    std::vector<std::optional<State>> path;                    // index: tick
    std::vector<ErrorDisplay> displays;                        // index: Display
    std::array<std::array<glm::dvec3, 2>, kDisplays> shown{};  // in the last two pictures, newest first
    std::array<glm::dvec3, kDisplays> velocity{};              // shown, in the last picture
    std::size_t pictures = 0;                                  // in `shown`
    bool is_corrected = false, jumps = false;                  // since the last picture
  };

  [[nodiscard]] double local_s(double time_s) const { return time_s + 100.0 * static_cast<double>(car_ + 1); }
  [[nodiscard]] double time_of(Tick tick) const { return tick / options_.tick_rate_hz; }
  void handle_events();
  void predict();
  void own();
  void send_keys();
  void press(const Keys& keys);
  void step(Tick tick, std::span<const std::byte> input, bool is_first);
  void keep(Tick tick);
  void note_touched(const Contacts& contacts, Tick tick);
  [[nodiscard]] bool steps_others() const {
    return options_.others_at == OthersAt::stepped && options_.approach == Approach::prediction;
  }
  [[nodiscard]] bool is_other(std::size_t body) const {
    return body != car_ && (body != kBall || !stepped_[kOwnBall].is_stepped);
  }
  [[nodiscard]] double arriving_s() const;
  void begin_others();
  void follow_others(Tick tick);
  void place_others(Tick tick);
  void keep_others(Tick tick);
  void see_others(double time_s);
  [[nodiscard]] std::optional<State> path_at(const Stepped& body, double time_s) const;
  void show(std::span<const ShownEntity> shown, double time_s);
  void draw(Stepped& body, const ShownEntity& entity, std::array<Drawn, kDisplays>& drawn);
  void note_response(double own_s);

  FootballOptions options_;
  std::size_t car_;
  const FootballServer& server_;  // for the ids, and when it has used keys
  Client client_;
  Bot bot_;
  World world_;  // as this player's game computes or sees it
  Keys keys_;
  std::uint16_t key_number_ = 0;
  bool greeted_ = false;
  std::array<Stepped, kPredictable> stepped_;
  std::array<double, 2> drawn_at_s_{};   // shown times of the last two pictures, newest first
  double picture_s_ = 0.0;               // time of the last picture
  Tick next_own_ = 0;                    // next tick to step of an owned car
  std::array<Tick, kBodies> touched_{};  // when a predicted body last touched the body; 0: never
  std::uint8_t touching_ = 0;            // bodies that touch the own car
  // With OthersAt::stepped: all bodies in the tick known_ and in each one after it, and the keys of others.
  Tick known_ = 0;
  std::vector<World> others_;
  Inputs others_keys_;
  double corrected_s_ = -1e9;
  std::uint64_t pictures_ = 0;
  std::deque<Pressed> pressed_;
  PlayerRecord record_;
};

}  // namespace reckoner::harness::football
