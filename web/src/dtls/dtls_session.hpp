// SPDX-License-Identifier: MIT
#pragma once

#include "web/src/dtls/certificate.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace reckoner::web {

/// Size of the largest datagram that DTLS sends, bytes. Larger ones are lost on some paths, and nothing here
/// searches for the largest that is not.
inline constexpr unsigned kDtlsMtuBytes = 1200;

/// What all DTLS sessions of one end have in common. It must outlive its sessions.
class DtlsContext {
 public:
  /// Fails if OpenSSL lacks what DTLS 1.2 needs.
  [[nodiscard]] static Result<DtlsContext> make();

  /// Fingerprint of this end's certificate, which make() has created.
  [[nodiscard]] const Fingerprint& fingerprint() const { return certificate_.fingerprint; }

 private:
  friend class DtlsSession;
  DtlsContext() = default;

  Certificate certificate_;
  OpenSslPointer<BIO_METHOD> method_;
  OpenSslPointer<SSL_CTX> context_;
};

/// One end of DTLS 1.2 with one other end. Only one certificate of the other end is accepted. It has no
/// socket: its owner passes datagrams in both directions. OpenSSL reads the machine's clock to repeat lost
/// datagrams of the handshake, and nothing else here reads a clock.
class DtlsSession {
 public:
  /// Sends one datagram to the other end. It must not use the session.
  using Send = std::function<void(std::span<const std::byte> datagram)>;
  /// Takes one packet from the other end, 1 byte or more. It must neither end nor destroy the session.
  using Deliver = std::function<void(std::span<const std::byte> packet)>;

  enum class State : std::uint8_t {
    handshaking,
    open,   ///< packets can be sent and received
    ended,  ///< by the other end, or by close()
    failed  ///< the handshake has failed, for example because the other end has another certificate
  };

  /// Begins as a server. `hello` is one record with a whole ClientHello whose cookie is valid. `expected` is
  /// the fingerprint of the other end's certificate. Returns null if OpenSSL refuses the hello.
  [[nodiscard]] static std::unique_ptr<DtlsSession> accept(const DtlsContext& context,
                                                           const Fingerprint& expected,
                                                           std::span<const std::byte> hello, Send send);
  /// Begins as a client, and sends a hello. Only tests use it. Returns null without memory.
  [[nodiscard]] static std::unique_ptr<DtlsSession> connect(const DtlsContext& context,
                                                            const Fingerprint& expected, Send send);
  ~DtlsSession();
  DtlsSession(const DtlsSession&) = delete;
  DtlsSession& operator=(const DtlsSession&) = delete;

  /// Reads a datagram from the other end, and passes what it contains to `deliver`. Drops what is not
  /// genuine. Returns false if nothing in it was genuine data, and no handshake runs.
  bool receive(std::span<const std::byte> datagram, const Deliver& deliver);
  /// Sends a packet, encrypted, at once. Returns false if the session is not open or the packet is larger
  /// than a datagram.
  bool send(std::span<const std::byte> packet);
  /// Repeats what was lost in the handshake, if it is time. Call it regularly.
  void service();
  /// Ends the session, and tells the other end, unless the network loses it.
  void close();

  [[nodiscard]] State state() const { return state_; }
  /// True if the other end has shown a certificate that was not expected.
  [[nodiscard]] bool has_wrong_certificate() const { return has_wrong_certificate_; }

 private:
  friend class DtlsContext;
  friend struct DtlsCallbacks;

  DtlsSession(const Fingerprint& expected, Send send) : expected_(expected), send_(std::move(send)) {}
  [[nodiscard]] bool prepare(const DtlsContext& context);
  void step_handshake();

  Fingerprint expected_;
  Send send_;
  std::span<const std::byte> arrived_;  // the datagram that OpenSSL has not read yet
  OpenSslPointer<SSL> session_;
  State state_ = State::handshaking;
  bool has_wrong_certificate_ = false;
};

}  // namespace reckoner::web
