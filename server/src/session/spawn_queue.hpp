// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// The spawn and despawn messages to one client. Some wait to be sent; the others were sent but are not
/// confirmed yet. ReliableQueue numbers the messages and counts the confirmations; this class knows the
/// entity of each message.
///
/// While a spawn message is not confirmed, the server may send newer motions of the entity as repeated spawn
/// messages, also on the reliable channel.
class SpawnQueue {
 public:
  struct Spawn {
    EntityId id;
    std::uint32_t serial = 0;   ///< serial of the subscription
    Tick since = 0;             ///< the client lacks data of this tick until it has the message
    std::uint32_t number = 0;   ///< number of the message; this and all members below are set when it is sent
    Tick motion_tick = 0;       ///< time stamp of the motion in the message
    std::uint32_t publish = 0;  ///< number of the publish in the message
    std::uint8_t level = 0;     ///< level of detail of that publish
    bool is_repeat = false;     ///< this message repeats an earlier spawn message of the subscription
    std::uint8_t repeats = 0;   ///< number of repeats sent after this message
    Tick newest_sent = 0;       ///< tick in which this message, or its last repeat, was sent
  };
  struct Despawn {
    EntityId id;
    Tick tick = 0;  ///< when the entity ended, or ceased to be relevant
  };
  /// The motion that a spawn message contains, and the message's number.
  struct SentMotionInfo {
    std::uint32_t number = 0;
    std::uint32_t publish = 0;
    std::uint8_t level = 0;
    Tick motion_tick = 0;
  };

  // Despawn messages that wait. The server sends them before any spawn message.

  void add_despawn(EntityId id, Tick tick) { despawns_.push_back({id, tick}); }
  /// The oldest waiting despawn; null if none waits.
  [[nodiscard]] const Despawn* next_despawn() const {
    return despawns_.empty() ? nullptr : &despawns_.front();
  }
  [[nodiscard]] std::size_t waiting_despawns() const { return despawns_.size(); }
  /// The oldest waiting despawn was sent as message `number`.
  void despawn_sent(std::uint32_t number) {
    Spawn entry{.id = despawns_.front().id, .since = despawns_.front().tick, .number = number};
    despawns_.pop_front();
    push_unconfirmed(entry);
  }

  // Spawns that wait.

  void add_spawn(EntityId id, std::uint32_t serial, Tick since) {
    push_waiting({.id = id, .serial = serial, .since = since});
  }
  /// The first waiting spawn; null if none waits. The caller must then call spawn_sent(), drop_spawn() or
  /// defer_spawn().
  [[nodiscard]] const Spawn* next_spawn() const { return waiting_.empty() ? nullptr : &waiting_.front(); }
  [[nodiscard]] std::size_t waiting_spawns() const { return waiting_.size(); }
  void drop_spawn() {
    waiting_.pop_front();
    oldest_waiting_.pop();
  }
  /// The first waiting spawn depends on a later one: moves it behind all others.
  void defer_spawn() {
    const Spawn entry = waiting_.front();
    drop_spawn();
    push_waiting(entry);
  }
  /// The first waiting spawn was sent in tick `now`.
  void spawn_sent(const SentMotionInfo& motion, Tick now) {
    Spawn entry = waiting_.front();
    drop_spawn();
    set_motion(entry, motion);
    entry.newest_sent = now;
    push_unconfirmed(entry);
  }

  // Repeats of unconfirmed spawns.

  /// Calls `f(spawn)` for every unconfirmed spawn, oldest first. Does nothing if more than `most` messages of
  /// this queue are unconfirmed. `f` may call repeat_sent() with its argument.
  template <class F>
  void for_each_unconfirmed_spawn(std::size_t most, F&& f) {
    if (unconfirmed_.size() > most) return;
    for (std::size_t i = 0, count = unconfirmed_.size(); i < count; ++i) {
      if (Spawn& entry = unconfirmed_[i]; is_spawn(entry) && !entry.is_repeat) f(entry);
    }
  }
  /// `first` is an unconfirmed spawn. A newer motion of its entity was sent in tick `now`.
  void repeat_sent(Spawn& first, const SentMotionInfo& motion, Tick now) {
    // The previous spawn message contains all data up to the tick in which it was sent.
    Spawn entry{.id = first.id, .serial = first.serial, .since = first.newest_sent + 1, .is_repeat = true};
    ++first.repeats;
    first.newest_sent = now;
    set_motion(entry, motion);
    push_unconfirmed(entry);
  }

  /// The client has confirmed `count` messages. Calls `f(spawn)` for each newly confirmed spawn and
  /// `ended(entity)` for each newly confirmed despawn, in the order of sending.
  template <class F, class Ended>
  void confirm(std::uint32_t count, F&& f, Ended&& ended) {
    while (!unconfirmed_.empty() && static_cast<std::int32_t>(count - unconfirmed_.front().number) >= 0) {
      const Spawn entry = unconfirmed_.front();
      unconfirmed_.pop_front();
      oldest_unconfirmed_.pop();
      is_spawn(entry) ? f(entry) : ended(entry.id);
    }
  }
  template <class F>
  void confirm(std::uint32_t count, F&& f) {
    confirm(count, f, [](EntityId) {});
  }

  /// The oldest `since` of all messages that wait or are unconfirmed: from this tick on, the client may lack
  /// data. Nullopt if there are no such messages. Takes constant time, because every datagram needs this tick
  /// and thousands of spawns may wait.
  [[nodiscard]] std::optional<Tick> oldest_since() const {
    std::optional<Tick> oldest = older(oldest_waiting_.get(), oldest_unconfirmed_.get());
    if (!despawns_.empty()) oldest = older(oldest, despawns_.front().tick);
    return oldest;
  }

 private:
  // A queue of ticks that knows its oldest tick. It stores a tick only until an older or equal tick is pushed
  // after it. So the first stored tick is always the oldest.
  class MinimumQueue {
   public:
    void push(Tick tick) {
      while (!minima_.empty() && !earlier(minima_.back().tick, tick))
        minima_.pop_back();
      minima_.push_back({pushed_++, tick});
    }
    // Removes the tick that was pushed first.
    void pop() {
      if (!minima_.empty() && minima_.front().index == popped_) minima_.pop_front();
      ++popped_;
    }
    [[nodiscard]] std::optional<Tick> get() const {
      return minima_.empty() ? std::nullopt : std::optional{minima_.front().tick};
    }

   private:
    struct Entry {
      std::uint64_t index;  // number of ticks pushed before this one
      Tick tick;
    };
    std::deque<Entry> minima_;
    std::uint64_t pushed_ = 0;
    std::uint64_t popped_ = 0;
  };

  [[nodiscard]] static bool is_spawn(const Spawn& entry) { return entry.serial != 0; }
  [[nodiscard]] static std::optional<Tick> older(std::optional<Tick> a, std::optional<Tick> b) {
    if (!a || !b) return a ? a : b;
    return earlier(*a, *b) ? a : b;
  }
  static void set_motion(Spawn& entry, const SentMotionInfo& motion) {
    entry.number = motion.number;
    entry.publish = motion.publish;
    entry.level = motion.level;
    entry.motion_tick = motion.motion_tick;
  }
  void push_waiting(const Spawn& entry) {
    waiting_.push_back(entry);
    oldest_waiting_.push(entry.since);
  }
  void push_unconfirmed(const Spawn& entry) {
    unconfirmed_.push_back(entry);
    oldest_unconfirmed_.push(entry.since);
  }

  std::deque<Despawn> despawns_;   // oldest first
  std::deque<Spawn> waiting_;      // spawns
  std::deque<Spawn> unconfirmed_;  // spawns, and despawns (serial 0), in order of number
  MinimumQueue oldest_waiting_;
  MinimumQueue oldest_unconfirmed_;
};

}  // namespace reckoner
