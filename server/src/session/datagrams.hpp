// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/sequence_ring.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/wire/bit_stream.hpp"
#include "reckoning/src/util/prefetch.hpp"
#include "server/src/publish/encodings.hpp"
#include "server/src/session/subscriptions.hpp"
#include "server/src/util/traffic_counter.hpp"

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// The updates for one client in one tick. A snapshot selects the most urgent encoded motions up to the byte
/// budget, and writes them into as few datagrams as possible. One object is reused for many clients in turn.
class Snapshot {
 public:
  struct Item {
    std::uint32_t slot = 0;
    std::uint32_t subscription = 0;  ///< index in Subscriptions
    std::uint8_t level = 0;
    std::uint32_t reference = 0;  ///< number of the publish used as the baseline; 0: no baseline
    Tick reference_tick = 0;      ///< time stamp of the baseline
    Tick tick = 0;                ///< time stamp of the motion
    float priority = 0.0f;
    BitString motion{};      ///< set by measure()
    std::uint32_t bits = 0;  ///< bits of header and motion; an estimate until write_updates() writes it
  };

  void clear() {
    items_.clear();
    written_ = 0;
  }

  void add(const Item& item) { items_.push_back(item); }
  [[nodiscard]] std::span<const Item> items() const { return items_; }
  [[nodiscard]] std::span<Item> items() { return items_; }

  /// Keeps only the `most` items with the highest priority, and sorts them by slot.
  void keep(std::size_t most);

  /// Gets the encoded motion of each item. Returns the number of bytes that all items need.
  double measure(Encodings& encodings, unsigned worker);

  /// Drops the items with the lowest priority until the others fit into `most_bytes`, but keeps at least one
  /// item. Call it after measure().
  void keep_within(double most_bytes);

  /// Returns the coding that makes the headers of the items not yet written shortest. `tick` is the tick of
  /// the datagram. The caller makes sure that the baseline of no item is newer than `acknowledged_tick`.
  [[nodiscard]] UpdateCoding coding(Tick tick, Tick acknowledged_tick) const;

  /// Writes as many of the next items, in order of slot, as fit into `room_bits` bits, and returns them. If
  /// any item is left, it writes at least one.
  [[nodiscard]] std::span<const Item> write_updates(Tick tick, const UpdateCoding& coding,
                                                    std::size_t room_bits, BitWriter& writer);
  [[nodiscard]] bool all_written() const { return written_ == items_.size(); }

 private:
  std::vector<Item> items_;
  std::size_t written_ = 0;
};

/// Datagrams for several clients, ready to be sent, and the statistics of writing them. Several workers write
/// datagrams, each into its own buffer. Only one thread sends them.
class DatagramBuffer {
 public:
  DatagramBuffer() { repaired.reserve(kUsualRepairs); }

  void add(PeerId peer, std::span<const std::byte> payload) {
    bytes_.insert(bytes_.end(), payload.begin(), payload.end());
    datagrams_.push_back({peer, payload.size()});
    ++stats.datagrams_sent;
    stats.state_bytes_sent += payload.size();
  }

  /// Sends all datagrams in order and removes them. Keeps `stats` and `repaired`.
  void flush(Transport& transport) {
    std::span<const std::byte> left = bytes_;
    for (const Datagram& datagram : datagrams_) {
      transport.send(datagram.to, left.first(datagram.bytes));
      left = left.subspan(datagram.bytes);
    }
    bytes_.clear();
    datagrams_.clear();
  }

  ServerStats stats;
  std::vector<std::uint32_t>
      repaired;  ///< streams (slot x kLevels + level) that were sent again after a loss

 private:
  struct Datagram {
    PeerId to;
    std::size_t bytes = 0;
  };
  static constexpr std::size_t kUsualRepairs = 1024;  // enough for the repairs of one tick with heavy loss

  std::vector<std::byte> bytes_;
  std::vector<Datagram> datagrams_;
};

/// The scratch memory of one worker that writes datagrams.
struct WriteScratch {
  unsigned worker = 0;
  Snapshot& snapshot;
  std::vector<std::uint32_t>& fresh;
  DatagramBuffer& datagrams;
  TrafficShare& traffic;  ///< the worker's counts of contents
};

/// A motion that was sent to the client in a datagram.
struct SentMotion {
  Subscriptions::Index subscription = 0;
  std::uint32_t spawn_number = 0;  ///< of the subscription for which the motion was sent
  std::uint32_t number = 0;        ///< number of the publish that made this motion
  Tick motion_tick = 0;            ///< time stamp of the motion
  std::uint8_t level = 0;
};

/// The contents of each datagram in flight to one client. Every tick reads them for every client, so they lie
/// close together in memory. The oldest datagram comes first.
class InFlight {
 public:
  struct Datagram {
    Tick tick = 0;            ///< tick in which the datagram was sent
    std::uint32_t first = 0;  // index of its first motion; the index counts all motions ever added
    std::uint16_t count = 0;
    bool open = false;
  };

  /// Starts an empty record for a new datagram. The caller must use consecutive sequence numbers, and must
  /// keep at most SequenceRing::kMost records open.
  void begin(Sequence sequence, Tick tick) {
    if (oldest_ == next_) oldest_ = sequence;
    next_ = static_cast<Sequence>(sequence + 1);
    datagrams_.cover(oldest_, sequence);
    datagrams_[sequence] = {.tick = tick, .first = added_, .open = true};
  }
  /// Adds a motion to the newest datagram.
  void add(const SentMotion& motion) {
    if (added_ - removed_ == ring_.size()) grow();
    ring_[added_++ & (ring_.size() - 1)] = motion;
    ++datagrams_[static_cast<Sequence>(next_ - 1)].count;
  }

  [[nodiscard]] const Datagram& at(Sequence sequence) const { return datagrams_[sequence]; }
  /// Calls `f(motion)` for every motion in the datagram `sequence`, whose record must be open.
  template <class F>
  void for_each(Sequence sequence, F&& f) const {
    const Datagram& datagram = at(sequence);
    assert(datagram.open);
    for (std::uint32_t i = 0; i < datagram.count; ++i)
      f(ring_[(datagram.first + i) & (ring_.size() - 1)]);
  }

  /// Prefetches the records that the next tick reads first.
  void fetch() const {
    if (datagrams_.size() == 0) return;
    prefetch(&at(oldest_));
    prefetch(&at(next_));
  }

  /// Closes the record of a datagram that was acknowledged or lost.
  void end(Sequence sequence) {
    datagrams_[sequence].open = false;
    for (; oldest_ != next_ && !at(oldest_).open; ++oldest_)
      removed_ = at(oldest_).first + at(oldest_).count;
  }

 private:
  static constexpr std::size_t kMinRing = 16;

  void grow() {
    std::vector<SentMotion> larger(ring_.empty() ? kMinRing : 2 * ring_.size());
    for (std::uint32_t i = removed_; i != added_; ++i)
      larger[i & (larger.size() - 1)] = ring_[i & (ring_.size() - 1)];
    ring_ = std::move(larger);
  }

  std::vector<SentMotion> ring_;  // ring buffer; its size is a power of two
  std::uint32_t added_ = 0;       // number of motions ever added
  std::uint32_t removed_ = 0;     // number of motions removed; the oldest are removed first
  Sequence oldest_ = 0;           // all datagrams before this one are closed
  Sequence next_ = 0;
  SequenceRing<Datagram> datagrams_;
};

}  // namespace reckoner
