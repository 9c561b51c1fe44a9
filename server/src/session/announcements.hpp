// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/session/oldest_tick.hpp"

#include <cstddef>
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
    // The rest is about what begins.
    std::uint32_t publish = 0;  ///< number of the motion, and
    std::uint8_t level = 0;     ///< its level of detail
    bool again = false;         ///< it had begun: only the motion is news
    std::uint8_t repeats = 0;   ///< newer motions that were sent behind it
    Tick told = 0;              ///< when the last of them, or it, was sent
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
  /// It was sent at `now` with this motion.
  void sent(std::uint32_t publish, std::uint8_t level, Tick motion_tick, Tick now) {
    Entry entry = waiting_.front();
    entry.motion_tick = motion_tick;
    entry.number = ++sent_;
    entry.publish = publish;
    entry.level = level;
    entry.told = now;
    drop();
    await(entry);
  }

  /// What began and is not confirmed, oldest first, if no more than so many messages are on their way; `f`
  /// may say sent_again() of the entry that it is given.
  template <class F>
  void for_each_beginning(std::size_t most, F&& f) {
    if (unconfirmed_.size() > most) return;
    for (std::size_t i = 0, count = unconfirmed_.size(); i < count; ++i) {
      if (Entry& entry = unconfirmed_[i]; entry.serial != 0 && !entry.again) f(entry);
    }
  }
  /// A newer motion of what `first` began was sent at `now`.
  void sent_again(Entry& first, std::uint32_t publish, std::uint8_t level, Tick motion_tick, Tick now) {
    // All until then it had, with the one before.
    Entry entry{first.id, first.serial, first.told + 1, motion_tick, ++sent_};
    ++first.repeats;
    first.told = now;
    entry.publish = publish;
    entry.level = level;
    entry.again = true;
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
