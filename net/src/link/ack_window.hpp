// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/sequence_bits.hpp"
#include "net/src/link/sequence_ring.hpp"
#include "net/src/messages/datagram.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// If an acknowledgement names a datagram that is this much newer, but not the datagram itself, the datagram
/// has probably not only been overtaken.
inline constexpr int kReorderedDatagrams = 33;

/// The receiver's half of acknowledgements. It stores which datagrams from the other end were applied.
///
/// An acknowledgement covers at least the 32 datagrams before the newest. It also covers everything that has
/// become known since the third-last acknowledgement: which wanted datagrams arrived, and which datagrams are
/// missing although kReorderedDatagrams newer numbers have been seen. So the loss of two acknowledgements in
/// a row does no harm.
class RECKONER_NET_API ReceivedWindow {
 public:
  /// Records that a datagram arrived. Returns false if the datagram is a duplicate, or so old that this is
  /// unknown. The caller must then not apply it.
  bool note(Sequence sequence);

  /// Whether any datagram has arrived.
  [[nodiscard]] bool any() const { return any_; }
  /// The newest datagram that arrived. Requires any().
  [[nodiscard]] Sequence newest() const { return newest_; }
  /// True if this datagram arrived, and lies at most Ack::kMaxDatagrams before the newest one.
  [[nodiscard]] bool has(Sequence sequence) const;

  /// The other end waits for the acknowledgement of this datagram, which has arrived.
  void want(Sequence sequence);
  /// The other end does not wait any more for acknowledgements of earlier datagrams.
  void forget_wanted() { intervals_ = 0; }

  /// Returns the acknowledgement to send. Requires any(). An acknowledgement counts as sent if it contains
  /// something new; a repeated one does not.
  [[nodiscard]] Ack acknowledge();

 private:
  void advance(int ahead);

  static constexpr std::size_t kRepeats = 3;  // number of acknowledgements that cover the same news

  bool any_ = false;
  bool news_ = false;  // something was added to wanted_[0] since the last acknowledgement
  Sequence newest_ = 0;
  int before_ = 0;  // distance from the oldest datagram that arrived to the newest; at most kMaxDatagrams
  std::size_t intervals_ = 0;  // number of intervals in wanted_
  // Oldest datagram of the news in each of the last intervals between acknowledgements, newest interval
  // first.
  std::array<Sequence, kRepeats> wanted_{};
  SequenceBits arrived_;
};

/// The sender's half of acknowledgements. It numbers datagrams and finds out whether each one was
/// acknowledged or lost. A datagram counts as lost
/// - if acknowledgements show that it is missing although the other end has received one that is
///   kReorderedDatagrams newer, and one that was sent so much later that it has hardly overtaken it (compare
///   RFC 8985, RACK), and if no acknowledgement that was overtaken itself says otherwise,
/// - if it waits longer than a time-out,
/// - or if too many are in flight.
/// A later acknowledgement does not change that.
class RECKONER_NET_API SentWindow {
 public:
  /// Maximum number of datagrams from the oldest one in flight to the newest. If one more is sent, the oldest
  /// counts as lost.
  static constexpr std::size_t kCapacity = SequenceRing<int>::kMost;

  /// Whether a datagram was acknowledged or lost.
  struct Outcome {
    Sequence sequence = 0;  ///< number of the datagram
    bool acked = false;     ///< false: lost
    double sent_s = 0.0;    ///< when it was sent, s of the sender's clock
  };

  /// Returns the number for a datagram that is sent at `now_s`.
  Sequence send(double now_s);
  /// True if another datagram would have to push out the oldest one in flight.
  [[nodiscard]] bool full() const { return static_cast<Sequence>(next_ - oldest_) >= kCapacity; }

  /// Processes an acknowledgement that arrived at `now_s`. A datagram that was sent at most `overtaking_s`
  /// before another one may arrive after it; 0: the path keeps the order. Returns false and changes nothing
  /// if the acknowledgement names a datagram that was never sent.
  bool acknowledge(const Ack& ack, double now_s, double overtaking_s);

  /// Counts datagrams as lost that were sent before `now_s` - `timeout_s`, or that acknowledgements until
  /// `now_s` - `overtaking_s` have shown to be missing.
  void expire(double now_s, double timeout_s, double overtaking_s);

  /// The outcomes since clear_outcomes(), one per datagram. Valid until the next call.
  [[nodiscard]] std::span<const Outcome> outcomes() const { return outcomes_; }
  /// The datagrams that timed out and have been acknowledged since clear_outcomes(), each once. They still
  /// count as lost, but they show the round-trip time. Contains only the datagrams that the window still
  /// remembers: the last SequenceRing::kLeast at least, and while acknowledgements arrive, those sent after
  /// the newest acknowledged one, up to kCapacity of them.
  [[nodiscard]] std::span<const Outcome> late() const { return late_; }
  /// Clears both lists.
  void clear_outcomes() {
    outcomes_.clear();
    late_.clear();
  }

  /// The datagram takes this number of bytes on the wire.
  void set_bytes(Sequence sequence, std::size_t wire_bytes) {
    sent_[sequence].bytes = static_cast<std::uint32_t>(wire_bytes);
  }
  /// Valid for a datagram in flight, and until the next one is sent for those of outcomes() and late().
  [[nodiscard]] std::size_t bytes(Sequence sequence) const { return sent_[sequence].bytes; }

  /// Number of datagrams that the window has memory for.
  [[nodiscard]] std::size_t memory() const { return sent_.size(); }
  /// Number of datagrams without an outcome.
  [[nodiscard]] std::size_t in_flight() const;

 private:
  struct Sent {
    double sent_s = 0.0;
    float doubted_after_s = 0.0f;  // since sent_s; only if it is doubted
    std::uint32_t bytes = 0;
  };

  [[nodiscard]] bool was_sent(const Ack& ack) const;
  void note_arrived(Sequence newest, std::uint32_t named);
  void note_missing(Sequence newest);
  void doubt(Sequence newest, double now_s, double overtaking_s);
  void settle(Sequence sequence, bool acked);
  void advance() { oldest_ = open_.find(oldest_, next_); }
  [[nodiscard]] Sequence oldest_needed(double now_s) const;

  // Numbers are distinct within this distance.
  static constexpr std::uint32_t kHalf = 32768;

  Sequence oldest_ = 0;  // the oldest open datagram; next_ if there is none
  Sequence next_ = 0;
  std::uint32_t sent_count_ = 0;  // number of datagrams sent, at most kHalf + kCapacity
  SequenceBits open_;             // in flight
  // An acknowledgement covered it and named a datagram that is kReorderedDatagrams newer, but not it.
  SequenceBits missing_;
  // Was missing, and the named datagram was sent so much later that it has hardly overtaken this one.
  SequenceBits doubted_;
  std::size_t suspects_ = 0;   // number of datagrams that are missing or doubted
  SequenceBits given_up_;      // counts as lost, and is still remembered
  Sequence newest_acked_ = 0;  // the newest datagram that was ever acknowledged
  double acked_s_ = -std::numeric_limits<double>::infinity();  // when the last acknowledgement arrived
  std::vector<Outcome> outcomes_;
  std::vector<Outcome> late_;
  SequenceRing<Sent> sent_;
};

}  // namespace reckoner
