// SPDX-License-Identifier: MIT
#pragma once

#include "subscriptions.hpp"

#include <cstdint>
#include <deque>

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
  void add(EntityId id, std::uint32_t serial, Tick since) { waiting_.push_back({id, serial, since, 0, 0}); }

  /// The next that may be sent, oldest first; sent() or drop() decides about it.
  [[nodiscard]] const Entry* next() const {
    return waiting_.empty() || sent_ - confirmed_ >= kMostUnconfirmed ? nullptr : &waiting_.front();
  }
  void drop() { waiting_.pop_front(); }
  /// The next has to wait for another: behind all the others with it.
  void defer() {
    waiting_.push_back(waiting_.front());
    waiting_.pop_front();
  }
  [[nodiscard]] std::size_t waiting_count() const { return waiting_.size(); }
  void sent(Tick motion_tick) {
    unconfirmed_.push_back(waiting_.front());
    unconfirmed_.back().motion_tick = motion_tick;
    unconfirmed_.back().number = ++sent_;
    waiting_.pop_front();
  }

  /// A message that begins nothing was sent.
  void sent_end(EntityId id, Tick since) { unconfirmed_.push_back({id, 0, since, 0, ++sent_}); }
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
      f(entry);
    }
  }

  /// Calls `f(tick)` for every tick of which the client lacks something that a message says.
  template <class F>
  void for_each_since(F&& f) const {
    for (const Entry& e : unconfirmed_)
      f(e.since);
    for (const Entry& e : waiting_)
      f(e.since);
  }

 private:
  std::deque<Entry> waiting_;
  std::deque<Entry> unconfirmed_;  // by number
  std::uint32_t sent_ = 0;
  std::uint32_t confirmed_ = 0;
};

}  // namespace reckoner
