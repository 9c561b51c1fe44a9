// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/playout/tick_clock.hpp"
#include "client/src/prediction/input_clock.hpp"
#include "client/src/prediction/usual_transit.hpp"
#include "net/src/messages/correction.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/input.hpp"
#include "net/src/messages/input_batch.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// The inputs of this client's player, one for each tick that its game steps, and the section that carries
/// them to the server until it has them.
class PlayerInputs {
 public:
  static constexpr bool ClientDatagram::*kFlag = &ClientDatagram::has_inputs;
  /// Inputs and states of this number of ticks are kept. More than the longest round trip and lead.
  static constexpr std::size_t kKept = 256;

  /// The game steps ticks from now on.
  void begin() { wanted_ = true; }
  [[nodiscard]] bool has_begun() const { return wanted_; }
  /// An input takes effect this number of ticks after the game gives it, at most InputBatch::kMostDelay.
  /// Every datagram carries this number of new inputs.
  void configure(unsigned delay_ticks, unsigned inputs_per_datagram) {
    delay_ = delay_ticks;
    per_datagram_ = inputs_per_datagram;
  }

  // The clock.

  /// Advances to local time `local_s`. `guess_s`: see InputClock::advance().
  void advance(double local_s, double server_s, double guess_s, const TickClock& ticks);
  /// No tick is due until the next advance(), and then none of those in between.
  void interrupt() { clock_.stop(); }
  /// The session continues over another connection.
  void restart() {
    clock_.forget_reports();
    transit_ = {};
  }
  [[nodiscard]] const InputClock& clock() const { return clock_; }
  [[nodiscard]] bool is_running() const { return clock_.started() && next_.has_value(); }

  // Steps.

  /// The game asks for due(), for the first time in a picture or again.
  void note_picture() { clock_.note_picture(); }
  /// The tick that the game must step now; nullopt if none is due.
  [[nodiscard]] std::optional<Tick> due() const;
  /// Steps due(): `bytes` is what the player does now. Returns the input of the tick. The player sees the
  /// picture of `seen_s`: the client's estimate of the server's time, s.
  [[nodiscard]] const Input& step(std::span<const std::byte> bytes, double seen_s);
  /// The game has the state after `tick`: it does not step this tick any more, nor those before. Requires
  /// is_running().
  void skip_to(Tick tick) {
    if (earlier(stepped(), tick)) next_ = tick + 1;
  }
  /// The last tick that was stepped or skipped. Requires is_running().
  [[nodiscard]] Tick stepped() const { return *next_ - 1; }
  /// The input of a tick that was stepped or skipped.
  [[nodiscard]] const Input& input(Tick tick) const;

  // What travels.

  /// The results for the last stepped tick are complete.
  void set_results(std::span<const PredictedResult> results) {
    results_.assign(results.begin(), results.end());
    results_tick_ = stepped();
  }
  /// The game has applied this correction.
  void set_corrected(std::uint8_t number) { corrected_ = number; }
  void note_report(const InputReport& report, const TickClock& ticks);

  // For ClientSections.
  [[nodiscard]] bool any_due() const { return newest_ && (!sent_ || *newest_ - *sent_ >= per_datagram_); }
  bool write(BitWriter& writer, std::size_t most_bits, Sequence);

  /// An input that has arrived after its tick.
  struct Late {
    double by_s = 0.0;  ///< how long after its tick, at least, s
    bool sent_in_time =
        false;  ///< it would have arrived in time if it had travelled as long as inputs usually do
  };
  /// Nullopt if the server has not reported that the input of the tick was late, or not lately.
  [[nodiscard]] std::optional<Late> late(Tick tick) const;

 private:
  struct Entry {
    Tick tick = 0;
    bool is_known = false;
    bool is_sent = false;
    double lead_s = 0.0;    // of the clock when the input was sent first, s
    double waited_s = 0.0;  // from when the tick was due until then, s
    double late_s = 0.0;    // how long after its tick it arrived, at least; 0: in time, or not known, s
    Input input;
  };

  void note_late(const InputReport& report, double tick_rate_hz);
  [[nodiscard]] double time_left_s(const Entry& entry) const;
  void store(Tick tick, std::span<const std::byte> bytes);
  [[nodiscard]] const Entry* find(Tick tick) const {
    const Entry& entry = ring_[tick % kKept];
    return entry.is_known && entry.tick == tick ? &entry : nullptr;
  }

  bool wanted_ = false;
  unsigned delay_ = 0;
  unsigned per_datagram_ = 1;
  InputClock clock_;
  TickClock ticks_;
  std::optional<Tick> next_;  // the tick to step next
  std::vector<Entry> ring_;
  std::optional<Tick> newest_;  // of the inputs
  Tick run_begin_ = 0;          // the inputs since then are of consecutive ticks
  std::optional<Tick> sent_;    // newest input that was sent
  std::optional<Tick> acknowledged_;
  double seen_s_ = 0.0;
  std::uint8_t corrected_ = 0;
  std::vector<PredictedResult> results_;
  Tick results_tick_ = 0;
  UsualTransit transit_;
  InputBatch batch_;  // scratch
};

}  // namespace reckoner
