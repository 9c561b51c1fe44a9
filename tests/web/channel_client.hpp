// SPDX-License-Identifier: MIT
#pragma once

#include "web/src/dtls/dtls_session.hpp"
#include "web/src/sctp/channel_open.hpp"
#include "web/src/sctp/sctp_association.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reckoner/net/socket_address.hpp>

namespace reckoner::test {

using Bytes = std::vector<std::byte>;

[[nodiscard]] inline Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// The datagrams of a hello whose parts have at most `most` bytes.
[[nodiscard]] std::vector<Bytes> parts_of_hello(std::span<const std::byte> datagram, std::size_t most);

/// The client's end of a data channel, as a browser has it: with the same libraries as the server, but
/// without a gate and without a filter. It has no socket.
class ChannelClient {
 public:
  using Send = std::function<void(std::span<const std::byte> datagram)>;

  struct Options {
    std::string label = "reckoner";
    std::uint8_t type = web::ChannelOpen::kUnorderedRepeats;
    std::uint32_t reliability = 0;
    std::size_t hello_part_bytes = 0;    ///< size of the parts of a hello; 0: it is whole
    bool has_wrong_fingerprint = false;  ///< the offer has that of another certificate
    bool opens = true;                   ///< opens the channel as soon as it can
  };

  struct Message {
    std::uint32_t protocol = 0;
    Bytes payload;
  };

  explicit ChannelClient(Send send) : ChannelClient(std::move(send), Options()) {}
  ChannelClient(Send send, Options options);

  /// The text of the offer.
  [[nodiscard]] std::string offer() const;
  /// Takes the server's answer. The client then checks the path and joins.
  void take_answer(std::string_view answer);
  /// Address in the answer.
  [[nodiscard]] SocketAddress server() const { return server_; }

  /// The check that take_answer() and each service() sends until there is an answer to one.
  [[nodiscard]] Bytes check() const;

  void receive(std::span<const std::byte> datagram);
  void service(double now_s);
  /// Ends as a browser does that closes its connection.
  void close();

  /// Opens one more channel.
  void open(std::uint16_t stream, const web::ChannelOpen& open);
  bool send(std::span<const std::byte> payload, std::uint32_t protocol = web::kBinaryProtocol,
            std::uint16_t stream = 0);
  /// Sends one packet of SCTP as it is.
  void send_packet(std::span<const std::byte> packet);
  /// The packets of SCTP that were sent.
  [[nodiscard]] const std::vector<Bytes>& sent_packets() const { return sent_packets_; }

  [[nodiscard]] bool is_checked() const { return is_checked_; }
  [[nodiscard]] bool is_open() const { return is_acknowledged_; }
  [[nodiscard]] bool is_associated() const { return association_ && association_->is_open(); }
  [[nodiscard]] bool has_ended() const;
  [[nodiscard]] const web::DtlsSession* dtls() const { return dtls_.get(); }
  /// Removes and returns the messages that have arrived.
  [[nodiscard]] std::vector<Message> take_messages() { return std::exchange(messages_, {}); }

 private:
  void send_dtls(std::span<const std::byte> datagram);
  void settle();

  Send send_;
  Options options_;
  web::SctpStack sctp_;
  web::DtlsContext context_;
  std::string ufrag_ = "brow", password_ = "0123456789abcdef012345";
  std::string server_ufrag_, server_password_;
  web::Fingerprint server_fingerprint_{};
  SocketAddress server_;
  std::unique_ptr<web::DtlsSession> dtls_;
  std::unique_ptr<web::SctpAssociation> association_;
  std::vector<Message> messages_;
  std::vector<Bytes> sent_packets_;
  std::optional<double> last_check_s_;
  bool is_checked_ = false;
  bool has_opened_ = false;
  bool is_acknowledged_ = false;
};

}  // namespace reckoner::test
