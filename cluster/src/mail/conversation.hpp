// SPDX-License-Identifier: MIT
#pragma once

#include "cluster/src/wire/bus_messages.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

namespace reckoner::cluster {

/// The sending end of game messages in one direction. Messages are sent again until they are acknowledged.
class Outbox {
 public:
  static constexpr double kRepeatS =
      0.15;  ///< time without an acknowledgement after which all are sent again

  void push(std::span<const std::byte> payload) {
    waiting_.push_back({++last_, {payload.begin(), payload.end()}});
    fresh_ = true;
  }
  /// Everything up to `number` has arrived.
  void acknowledge(std::uint32_t number) {
    while (!waiting_.empty() && static_cast<std::int32_t>(waiting_.front().number - number) <= 0)
      waiting_.pop_front();
  }
  /// True if messages must be sent now. `repeats` is set if they were sent before.
  [[nodiscard]] bool due(double now_s, bool& repeats) const {
    repeats = !fresh_;
    return !waiting_.empty() && (fresh_ || now_s - sent_s_ > kRepeatS);
  }
  /// The messages to send, oldest first, as many as one message of the bus carries.
  [[nodiscard]] std::vector<Letter> take(double now_s) {
    fresh_ = false;
    sent_s_ = now_s;
    const std::size_t count = std::min(waiting_.size(), kMaxMailWaiting);
    std::vector<Letter> letters;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < count && bytes < kBatchBytes; ++i) {
      letters.push_back(waiting_[i]);
      bytes += waiting_[i].payload.size();
    }
    return letters;
  }
  /// Sends everything again at once: there is a new receiver.
  void hurry() { sent_s_ = -1e9; }
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  [[nodiscard]] std::uint32_t last() const { return last_; }
  [[nodiscard]] std::vector<Letter> letters() const { return {waiting_.begin(), waiting_.end()}; }
  /// Continues the outbox of another process.
  void resume(std::uint32_t last, std::vector<Letter> letters) {
    last_ = last;
    waiting_.assign(std::make_move_iterator(letters.begin()), std::make_move_iterator(letters.end()));
    sent_s_ = -1e9;
  }

 private:
  std::deque<Letter> waiting_;
  std::uint32_t last_ = 0;
  double sent_s_ = -1e9;
  bool fresh_ = false;
};

/// The receiving end: passes every message on once, in order.
class Inbox {
 public:
  /// Calls deliver(number, payload) for the messages that are new. The first letter is the oldest one that
  /// the sender keeps: earlier ones arrived, or were lost with a process that died.
  template <class Deliver>
  void receive(const std::vector<Letter>& letters, Deliver&& deliver) {
    if (letters.empty()) return;
    if (static_cast<std::int32_t>(letters.front().number - received_) > 1)
      received_ = letters.front().number - 1;
    for (const Letter& letter : letters) {
      if (letter.number != received_ + 1) continue;
      ++received_;
      deliver(letter.number, letter.payload);
    }
  }
  [[nodiscard]] std::uint32_t received() const { return received_; }
  void resume(std::uint32_t received) { received_ = received; }

 private:
  std::uint32_t received_ = 0;
};

}  // namespace reckoner::cluster
