// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/byte_ranges.hpp"
#include "net/src/link/ring_queue.hpp"
#include "net/src/link/sent_contents.hpp"
#include "net/src/messages/reliable_part.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Sends messages reliably and in order, in the datagrams of an unreliable connection. Only this class sends
/// bytes again.
///
/// An unordered message (is_unordered()) has its place in the order as well, but the receiver need not wait
/// for its turn: the part in which it begins says where.
///
/// The messages form a stream of bytes, each after its length. Datagrams carry parts of the stream, so a
/// large message takes several, and small ones share one. A part is sent again if its datagram is lost, or
/// probably lost because a much later one has arrived. If nothing arrives any more, a few bytes are sent
/// again at growing intervals. While little is in flight and the connection loses datagrams, each part is
/// sent twice, with a gap that is longer than most bursts of losses.
///
/// The stream belongs to a session. If the session continues over another link, restart() lets everything
/// wait again that the other end may lack. Times are in seconds on one monotonic clock.
class RECKONER_NET_API ReliableSender {
 public:
  /// At most this number of bytes lie between the first that the other end lacks and the last that is sent.
  static constexpr std::uint64_t kWindow = 512 * 1024;

  /// Adds a message and returns its number, counted from 1. It is not empty.
  std::uint32_t add(std::span<const std::byte> message);

  /// Sends the messages up to this number, which is at most added(), and later ones only after another call.
  /// Without any call, all are sent.
  void limit_to(std::uint32_t message);

  /// Number of the newest message.
  [[nodiscard]] std::uint32_t added() const { return added_; }
  /// The other end has received this message and all before it.
  [[nodiscard]] std::uint32_t received() const { return received_; }
  /// True if the other end has received the message `number`.
  [[nodiscard]] bool has_received(std::uint32_t number) const {
    return static_cast<std::int32_t>(received_ - number) >= 0;
  }
  /// Bytes that the other end lacks, as far as it is known; those that were not sent yet count, too.
  [[nodiscard]] std::size_t bytes() const { return bytes_.size() - static_cast<std::size_t>(first_ - base_); }
  /// Bytes of parts in datagrams without an outcome.
  [[nodiscard]] std::size_t bytes_in_flight() const { return in_flight_bytes_; }
  /// True if bytes wait to be sent, for the first time or again.
  [[nodiscard]] bool waits() const { return !lost_.empty() || unsent() > 0; }
  /// True if something should be sent at `now_s`.
  [[nodiscard]] bool is_due(double now_s) const {
    return now_s >= not_before_s_ && (waits() || (!copies_.empty() && copies_.front().due_s <= now_s));
  }

  /// Writes a section of at most `most_bits`, or nothing. `loses`: the connection loses datagrams. Returns
  /// the number of bytes of the stream written.
  std::size_t write(BitWriter& writer, std::size_t most_bits, Sequence sequence, double now_s, bool loses);
  /// The datagram, sent at `sent_s`, has arrived or was lost.
  void settle(Sequence sequence, double sent_s, bool acked);
  /// The other end has received the first `messages` messages, as another count of it says.
  void note_received_up_to(std::uint32_t messages);
  /// Lets parts wait again that were probably lost: of datagrams sent before later ones that have arrived.
  /// `deviation_s` is the mean deviation of the connection's round trip, s; on a connection with large random
  /// delays, a datagram can overtake others.
  void review(double deviation_s);
  /// True if the other end can have received the first `messages` messages and none after them.
  [[nodiscard]] bool can_restart(std::uint32_t messages) const {
    return messages - received_ <= added_ - received_;
  }
  /// The stream continues over another link. The other end has received the first `messages` messages, as
  /// can_restart() allows.
  void restart(std::uint32_t messages);

 private:
  struct Message {
    std::uint32_t number = 0;
    std::uint64_t begin = 0;  // of its length
    std::uint64_t end = 0;
    bool is_unordered = false;
  };
  struct Copy {
    ByteRange range;
    double due_s = 0.0;
  };
  struct InFlight {
    ByteRange range;
    bool waits_again = false;  // it was probably lost, and waits again or was sent again
  };
  struct Sent {
    Sequence sequence = 0;
    double sent_s = 0.0;
  };

  [[nodiscard]] std::uint64_t stream_end() const { return base_ + bytes_.size(); }
  [[nodiscard]] std::uint64_t sendable_end() const {
    return std::min({stream_end(), first_ + kWindow, limit_});
  }
  // Bytes that may be sent and never were.
  [[nodiscard]] std::uint64_t unsent() const { return std::max(next_, sendable_end()) - next_; }
  [[nodiscard]] std::span<const std::byte> bytes_of(const ByteRange& range) const {
    return std::span(bytes_).subspan(static_cast<std::size_t>(range.begin - base_),
                                     static_cast<std::size_t>(range.size()));
  }
  // True if nothing has arrived since several datagrams were lost.
  [[nodiscard]] bool is_cut_off() const { return lost_in_a_row_ >= 2; }
  [[nodiscard]] std::optional<std::uint32_t> find_unordered(const ByteRange& range) const;
  void note_received(const ByteRange& range);
  void advance_to(std::uint64_t first);
  void add_lacking(ByteRanges& to, const ByteRange& range) const;

  // The stream from the offset base_ on. Before first_, the other end has everything.
  std::vector<std::byte> bytes_;
  std::uint64_t base_ = 0, first_ = 0;
  std::uint64_t next_ = 0;                                           // before it, everything was sent
  std::uint64_t limit_ = std::numeric_limits<std::uint64_t>::max();  // nothing after it is sent
  ByteRanges arrived_;                                               // after first_
  ByteRanges lost_;                                                  // waits to be sent again
  RingQueue<Copy> copies_;
  SentContents<InFlight> in_flight_;
  RingQueue<Sent> sent_;  // datagrams with parts, oldest first; some have an outcome
  std::size_t in_flight_bytes_ = 0;
  double arrived_sent_s_ = -1e300;  // when the newest datagram was sent that has arrived
  unsigned lost_in_a_row_ = 0;      // datagrams with parts that were lost, sent after all that have arrived
  double not_before_s_ = -1e300;    // nothing is sent before
  RingQueue<Message> messages_;     // those that the other end lacks
  std::size_t unordered_ = 0;       // how many of them are unordered
  std::uint32_t added_ = 0, received_ = 0;
};

}  // namespace reckoner
