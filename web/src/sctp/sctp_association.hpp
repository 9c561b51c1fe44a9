// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace reckoner::web {

/// Size of the largest packet that an association sends, bytes: what DTLS, UDP and IPv6 leave of 1280.
inline constexpr unsigned kSctpPacketBytes = 1151;

/// Streams in each direction. A channel uses one. Each costs memory, so there are fewer than browsers offer.
inline constexpr unsigned kSctpStreams = 16;

/// A user of the SCTP library, usrsctp. Its associations must end before it does.
///
/// usrsctp has one state for the whole process: sockets, timers and a thread that only waits. So this class
/// is the one exception to the rule that Reckoner has no global state. The first user starts the library, and
/// the last one stops it. The timers of all associations run by the time that users pass. If there are
/// several, the one whose time passes fastest moves all of them. Users on several threads take turns.
///
/// usrsctp reads the machine's clock to measure round trips, to drop messages that are too old, and for the
/// age of its cookies.
class SctpStack {
 public:
  SctpStack();
  ~SctpStack();
  SctpStack(const SctpStack&) = delete;
  SctpStack& operator=(const SctpStack&) = delete;

  /// Runs the timers until `now_s`, by a monotonic clock of this user, s. Afterwards, any association may
  /// have packets to send.
  void advance(double now_s);

 private:
  std::optional<double> offset_s_;  // from this user's clock to the library's
};

/// How a message of an association is sent.
enum class SctpDelivery : std::uint8_t {
  reliable,  ///< always arrives, in order
  newest,    ///< without order; not repeated after 30 ms
};

/// One SCTP association (RFC 9260) in packets that another protocol carries. It hides which library it uses.
class SctpAssociation {
 public:
  enum class Role : std::uint8_t {
    waits,   ///< for the other end, as a server
    begins,  ///< for tests
  };
  struct Message {
    std::uint16_t stream = 0;
    std::uint32_t protocol = 0;            ///< the payload protocol identifier
    std::span<const std::byte> payload{};  ///< valid until the next call
  };

  /// Creates an association. `port` is that of both ends. Returns null if the library fails.
  [[nodiscard]] static std::unique_ptr<SctpAssociation> create(SctpStack& stack, Role role,
                                                               std::uint16_t port);
  ~SctpAssociation();
  SctpAssociation(const SctpAssociation&) = delete;
  SctpAssociation& operator=(const SctpAssociation&) = delete;

  /// Passes a packet from the other end to the library, which believes it: filter it first.
  void receive(std::span<const std::byte> packet);

  /// Returns the next message from the other end. Parts of messages that are too large are dropped.
  [[nodiscard]] std::optional<Message> poll();

  /// Queues a message of at least 1 byte. Returns false if there is no room, it does not fit into one packet,
  /// or the association is not open.
  bool send(std::uint16_t stream, std::uint32_t protocol, std::span<const std::byte> payload,
            SctpDelivery delivery);

  /// Calls `send(packet)` for each packet that the library wants to send.
  template <class Send>
  void flush(Send send) {
    take_packets();
    std::size_t at = 0;
    for (const std::size_t bytes : packets_.sizes) {
      send(std::span<const std::byte>(packets_.bytes).subspan(at, bytes));
      at += bytes;
    }
    packets_.clear();
  }

  /// Returns true if a message waits because the network takes no more at present.
  [[nodiscard]] bool has_waiting();

  /// Ends the association at once, and tells the other end with the next flush().
  void close();

  [[nodiscard]] bool is_open() const { return id_ != 0 && !has_ended_; }
  /// True after close(), and if the other end has closed or does not answer.
  [[nodiscard]] bool has_ended() const { return has_ended_; }

  /// Packets one behind the other.
  struct Packets {
    std::vector<std::byte> bytes;
    std::vector<std::size_t> sizes;
    void clear() {
      bytes.clear();
      sizes.clear();
    }
  };

 private:
  struct Socket;
  SctpAssociation() = default;
  void take_packets();
  [[nodiscard]] std::uint64_t sent() const;
  void note(std::span<const std::byte> notification);

  std::unique_ptr<Socket> socket_;
  std::uint32_t id_ = 0;  // 0: not open yet
  bool has_ended_ = false;
  std::uint64_t accepted_ = 0;  // messages that the library has taken
  Packets packets_;
  std::vector<std::byte> buffer_;
};

}  // namespace reckoner::web
