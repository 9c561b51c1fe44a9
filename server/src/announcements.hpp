// SPDX-License-Identifier: MIT
#pragma once

#include "oldest_tick.hpp"

#include <cstdint>
#include <deque>
#include <optional>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// The messages of the control channel to one client that are counted: what waits to be sent, and what was
/// sent but is not confirmed. The client says how many it has taken in.
class Announcements {
 public:
  /// On their way at most. Bounds what waits for a slow client, and keeps the count, of which 16 bits travel,
  /// unambiguous.
  static constexpr std::uint32_t kMostUnconfirmed = 4096;

  struct Entry {
    EntityId id;
    std::uint32_t serial = 0;  ///< of the subscription that begins; 0: something ends
    Tick since = 0;            ///< the client lacks something of this tick until it has the message
    Tick motion_tick = 0;      ///< time stamp of the motion that it was sent with
    std::uint32_t number = 0;  ///< counts the messages sent
  };

  /// An entity is to be announced when its turn comes.
  void add(EntityId id, std::uint32_t serial, Tick since) { wait({id, serial, since, 0, 0}); }

  /// The next that may be sent, oldest first; sent() or drop() decides about it.
  [[nodiscard]] const Entry* next() const {
    return waiting_.empty() || is_full() ? nullptr : &waiting_.front();
  }
  /// As many are on their way as may be.
  [[nodiscard]] bool is_full() const { return sent_ - confirmed_ >= kMostUnconfirmed; }
  void drop() {
    waiting_.pop_front();
    oldest_waiting_.pop();
  }
  /// The next has to wait for another: behind all the others with it.
  void defer() {
    const Entry entry = waiting_.front();
    drop();
    wait(entry);
  }
  [[nodiscard]] std::size_t waiting_count() const { return waiting_.size(); }
  void sent(Tick motion_tick) {
    Entry entry = waiting_.front();
    entry.motion_tick = motion_tick;
    entry.number = ++sent_;
    drop();
    await(entry);
  }

  /// A message that begins nothing was sent.
  void sent_end(EntityId id, Tick since) { await({id, 0, since, 0, ++sent_}); }
  /// A message that concerns no entity was sent. Its number.
  std::uint32_t sent_other() { return ++sent_; }

  [[nodiscard]] bool is_confirmed(std::uint32_t number) const { return !earlier(confirmed_, number); }
  [[nodiscard]] std::uint32_t confirmed_count() const { return confirmed_; }
  [[nodiscard]] std::uint32_t sent_count() const { return sent_; }
  [[nodiscard]] std::uint32_t unconfirmed_count() const { return sent_ - confirmed_; }

  /// The client has taken in so many. Calls `f(entry)` for each that it had not before, in order.
  template <class F>
  void confirm(std::uint32_t count, F&& f) {
    confirmed_ = count;
    while (!unconfirmed_.empty() && !earlier(count, unconfirmed_.front().number)) {
      const Entry entry = unconfirmed_.front();
      unconfirmed_.pop_front();
      oldest_unconfirmed_.pop();
      f(entry);
    }
  }

  /// The oldest tick of which the client lacks something that a message says, if it lacks anything. Asked for
  /// with every datagram, and thousands may wait.
  [[nodiscard]] std::optional<Tick> oldest_since() const {
    const auto waiting = oldest_waiting_.get(), unconfirmed = oldest_unconfirmed_.get();
    if (!waiting || !unconfirmed) return waiting ? waiting : unconfirmed;
    return earlier(*waiting, *unconfirmed) ? waiting : unconfirmed;
  }

 private:
  void wait(const Entry& entry) {
    waiting_.push_back(entry);
    oldest_waiting_.push(entry.since);
  }
  void await(const Entry& entry) {
    unconfirmed_.push_back(entry);
    oldest_unconfirmed_.push(entry.since);
  }

  std::deque<Entry> waiting_;
  std::deque<Entry> unconfirmed_;  // by number
  OldestTick oldest_waiting_, oldest_unconfirmed_;
  std::uint32_t sent_ = 0;
  std::uint32_t confirmed_ = 0;
};

}  // namespace reckoner
