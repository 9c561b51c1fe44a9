// SPDX-License-Identifier: MIT
#pragma once

#include "web/src/sctp/chunk_filter.hpp"
#include "web/src/sctp/sctp_association.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <reckoner/net/refusal.hpp>

namespace reckoner::web {

/// Size of the largest message of a channel, bytes, in either direction: a datagram of 600 bytes in a message
/// of a pipe. Under loss, SCTP sends about one packet in a round trip, and the less is in it, the less waits.
inline constexpr std::size_t kChannelDatagramBytes = 600;
inline constexpr std::size_t kMaxChannelMessageBytes = 1 + kChannelDatagramBytes;

/// The server's end of one data channel of a browser (RFC 8831), in the packets that DTLS carries. The
/// browser opens exactly one channel: with the agreed label, without order and without repetitions. All other
/// channels and messages are refused and counted.
///
/// State is worth sending only while it is new, and SCTP lets messages wait for its congestion window. So
/// there is a gate in front of SCTP: while a message waits there, a new one waits here instead, and takes the
/// place of the one that waited here before.
class ServerChannel {
 public:
  /// `port` is that of the offer. Returns null if the SCTP library fails.
  [[nodiscard]] static std::unique_ptr<ServerChannel> create(SctpStack& stack, std::uint16_t port,
                                                             std::string label);

  /// Takes an untrusted packet from the browser.
  void receive(std::span<const std::byte> packet);
  /// Returns the next message of the channel, from 1 to kMaxChannelMessageBytes bytes. It is valid until the
  /// next call.
  [[nodiscard]] std::optional<std::span<const std::byte>> poll();

  /// Sends a message, or lets it wait at the gate. Returns false if the channel is not open or the size is
  /// not allowed.
  bool send(std::span<const std::byte> message);
  /// Calls `send(packet)` for each packet to the browser. Call it after every other function, and regularly.
  template <class Send>
  void flush(Send send) {
    open_gate();
    association_->flush(send);
  }
  /// Ends the association, and tells the browser with the next flush().
  void close() { association_->close(); }

  /// True once the browser has opened the channel.
  [[nodiscard]] bool is_open() const { return channel_ && !association_->has_ended(); }
  [[nodiscard]] bool has_ended() const { return association_->has_ended(); }

  /// What was refused: packets, channels and messages.
  [[nodiscard]] const RefusalCounts& refusals() const { return refusals_; }
  /// Number of messages that a newer one has replaced at the gate.
  [[nodiscard]] std::uint64_t replaced() const { return replaced_; }

 private:
  ServerChannel(std::unique_ptr<SctpAssociation> association, std::string label)
      : association_(std::move(association)), label_(std::move(label)) {}

  void handle_open(const SctpAssociation::Message& message);
  [[nodiscard]] std::optional<Refusal> find_refusal(const SctpAssociation::Message& message) const;
  void open_gate();

  std::unique_ptr<SctpAssociation> association_;
  std::string label_;
  ChunkFilter filter_;
  std::optional<std::uint16_t> channel_;  // its stream
  std::vector<std::byte> newest_;         // waits at the gate; empty: nothing does
  RefusalCounts refusals_;
  std::uint64_t replaced_ = 0;
};

}  // namespace reckoner::web
