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
    bytes_ += payload.size();
  }
  /// Everything up to `number` has arrived. False if no such message was sent: the acknowledgement is false.
  bool acknowledge(std::uint32_t number) {
    if (static_cast<std::int32_t>(last_ - number) < 0) return false;
    while (!waiting_.empty() && static_cast<std::int32_t>(waiting_.front().number - number) <= 0) {
      bytes_ -= waiting_.front().payload.size();
      waiting_.pop_front();
    }
    return true;
  }
  /// True if messages must be sent now. `repeats` is set if they were sent before.
  [[nodiscard]] bool due(double now_s, bool& repeats) const {
    const std::size_t count = window();
    if (count == 0) return false;
    repeats = static_cast<std::int32_t>(waiting_[count - 1].number - sent_) <= 0;
    return !repeats || now_s - sent_s_ > kRepeatS;
  }
  /// The messages to send, oldest first, as many as one message of the bus carries.
  [[nodiscard]] std::vector<Letter> take(double now_s) {
    sent_s_ = now_s;
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(window());
    std::vector<Letter> letters(waiting_.begin(), end);
    if (!letters.empty()) sent_ = letters.back().number;
    return letters;
  }
  /// Sends everything again at once: there is a new receiver.
  void hurry() { sent_s_ = -1e300; }
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }  ///< of the waiting messages
  [[nodiscard]] std::uint32_t last() const { return last_; }
  [[nodiscard]] std::vector<Letter> letters() const { return {waiting_.begin(), waiting_.end()}; }
  /// Continues the outbox of another process.
  void resume(std::uint32_t last, std::vector<Letter> letters) {
    last_ = sent_ = last;
    waiting_.assign(std::make_move_iterator(letters.begin()), std::make_move_iterator(letters.end()));
    bytes_ = 0;
    for (const Letter& letter : waiting_)
      bytes_ += letter.payload.size();
    sent_s_ = -1e300;
  }

 private:
  // How many of the oldest messages one message of the bus carries. The others wait for acknowledgements, so
  // a sender of many messages does not have all of them sent again and again.
  [[nodiscard]] std::size_t window() const {
    const std::size_t most = std::min(waiting_.size(), kMaxMailWaiting);
    std::size_t count = 0;
    for (std::size_t bytes = 0; count < most && bytes < kBatchBytes; ++count)
      bytes += waiting_[count].payload.size();
    return count;
  }

  std::deque<Letter> waiting_;
  std::size_t bytes_ = 0;
  std::uint32_t last_ = 0;
  std::uint32_t sent_ = 0;  // number of the newest message that was sent
  double sent_s_ = -1e300;
};

/// The receiving end: passes every message on once, in order.
class Inbox {
 public:
  /// Calls deliver(number, payload) for the messages that are new, until it returns false: the sender sends
  /// the others again. The first letter is the oldest one that the sender keeps: earlier ones arrived, or
  /// were lost with a process that died.
  template <class Deliver>
  void receive(const std::vector<Letter>& letters, Deliver&& deliver) {
    if (letters.empty()) return;
    if (static_cast<std::int32_t>(letters.front().number - received_) > 1)
      received_ = letters.front().number - 1;
    for (const Letter& letter : letters) {
      if (letter.number != received_ + 1) continue;
      if (!deliver(letter.number, letter.payload)) return;
      ++received_;
    }
  }
  [[nodiscard]] std::uint32_t received() const { return received_; }
  void resume(std::uint32_t received) { received_ = received; }

 private:
  std::uint32_t received_ = 0;
};

}  // namespace reckoner::cluster
