// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace reckoner {

/// What came back from one client in the last two seconds, in slots of 100 ms, and the least round trip of
/// the last ten seconds. 550 bytes, whatever the traffic. Times in seconds on one clock that never goes back.
class LinkWindow {
 public:
  static constexpr double kSlotS = 0.1;
  static constexpr std::size_t kSlots = 20;
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// Whole slots, back from the newest whole one.
  struct Summary {
    double least_s = kNever;  ///< round trip
    double mean_s = 0.0;
    std::size_t rounds = 0;  ///< instants at which acknowledgements came: the datagrams of one share its fate
    std::size_t acknowledged = 0;
    std::size_t lost = 0;
    std::size_t slots = 0;

    [[nodiscard]] double loss() const {
      const std::size_t all = acknowledged + lost;
      return all == 0 ? 0.0 : static_cast<double>(lost) / static_cast<double>(all);
    }
  };

  LinkWindow() { base_.fill(std::numeric_limits<float>::infinity()); }

  /// Moves on. True if a slot became whole.
  bool advance(double now_s);

  /// Bytes are sent now.
  void sent(std::size_t bytes);

  /// An acknowledgement came now. `counts`: its round trip does; else its bytes only.
  void acknowledged(double now_s, double round_trip_s, std::size_t bytes, bool counts);

  /// A datagram turned out lost now.
  void lost();
  /// One that had did not.
  void found();

  /// The newest slots but for `skipped`: at least `slots`, and more until `rounds` are in them or there are
  /// no more.
  [[nodiscard]] Summary recent(std::size_t slots, std::size_t rounds, std::size_t skipped = 0) const;

  /// Bytes acknowledged per second of the newest `slots` whole slots.
  [[nodiscard]] double delivered_bytes_per_second(std::size_t slots) const;

  /// Bytes sent after this time, to the slot; of the last two seconds at most.
  [[nodiscard]] double sent_since(double time_s) const;

  /// The least round trip of the last ten seconds: what the path takes with empty queues, if they ever were
  /// empty. Infinite if nothing was measured.
  [[nodiscard]] double base_s() const;

  /// Forgets round trips and losses; what was delivered stays, and the base too.
  void restart();

  /// The path takes this long now; what was known of its least round trip is forgotten.
  void rebase(double round_trip_s);

 private:
  static constexpr std::size_t kBaseSlots = 10;
  static constexpr std::int64_t kBaseEvery = 10;  // slots

  struct Slot {
    float least_s = std::numeric_limits<float>::infinity();
    float sum_s = 0.0f;
    std::uint32_t bytes = 0;  // acknowledged
    std::uint32_t sent = 0;   // bytes
    std::uint16_t rounds = 0, acknowledged = 0, lost = 0;
  };
  [[nodiscard]] Slot& now_slot() { return slots_[static_cast<std::size_t>(index_) % kSlots]; }
  [[nodiscard]] const Slot& back(std::size_t count) const {
    return slots_[(static_cast<std::size_t>(index_) + 2 * kSlots - count) % kSlots];
  }

  std::array<Slot, kSlots> slots_;  // the newest is not whole
  std::array<float, kBaseSlots> base_;
  std::int64_t index_ = -1;  // of the newest slot since time zero; negative: not started
  double last_round_s_ = -kNever;
};

}  // namespace reckoner
