// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/secure/gate.hpp"
#include "net/src/secure/handshake.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>

namespace reckoner::secure {

/// Reads every datagram that arrives at a socket of the transport "udp", and writes every one that leaves it.
/// Answers handshakes and checks changes of address. With security, all datagrams of sessions are sealed;
/// without, a datagram belongs to a session if it has its number and comes from its address.
class Guard {
 public:
  /// Maximum size of a datagram before sealing, bytes.
  static constexpr std::size_t kLargest = 1500;

  explicit Guard(const GateConfig& server)
      : end_(std::in_place_type<Gate>, server), is_open_(server.is_open) {}
  /// A client with a token. `version`: its wire version.
  Guard(const ConnectToken& token, std::uint64_t game, const SecretKey& secret = {},
        std::uint16_t version = kProtocolVersion)
      : end_(std::in_place_type<Client>, ClientHandshake(token, game, secret, version)) {}
  /// A client of a server without security.
  explicit Guard(std::uint16_t version)
      : end_(std::in_place_type<Client>, ClientHandshake(version)), is_open_(true) {}

  struct Arrival {
    enum class What : std::uint8_t {
      nothing,    ///< refused, or handled by the guard
      answer,     ///< send `bytes` back to the sender; a client sends them to its server
      datagram,   ///< a datagram for the layer above, in `bytes`
      alive,      ///< the other end is there
      close,      ///< the other end ends the session, with `reason`
      closed,     ///< the other end knows that this end has ended the session
      malformed,  ///< internal, like those below
      ticket,
      probe,
      echo,
    };
    What what = What::nothing;
    std::span<const std::byte> bytes{};  ///< valid until the next call
    std::uint32_t session = 0;
    std::uint32_t reason = 0;          ///< of close
    std::uint32_t tag = 0;             ///< the number given to bind()
    Gate::Session* from = nullptr;     ///< at a server: the session that the datagram claims to belong to
    bool moved = false;                ///< the client has proven another address
    bool probe = false;                ///< call probe() now
    std::optional<Refusal> refusal{};  ///< the reason for a refusal, which may have an answer
  };
  /// Handles an arrived datagram. `now_s`: on a monotonic clock. `unix_s`: seconds since 1970.
  [[nodiscard]] Arrival arrive(const SocketAddress& from, std::span<const std::byte> datagram, double now_s,
                               std::uint64_t unix_s);

  /// Calls `send(address, datagram)` with the probes that find out at which address the client is.
  template <class Send>
  void probe(Gate::Session& session, double now_s, Send send) {
    session.path.probe(session.address, now_s, [&](const SocketAddress& to) {
      send(to, write(session, Kind::probe, numbers_.make(session.number, to, now_s)));
    });
  }

  /// Binds an established connection to the session, which then lasts as long as the connection. Its arrivals
  /// carry `tag`. Returns false if the connection must be refused (Gate::bind()).
  [[nodiscard]] bool bind(std::uint32_t session, std::uint32_t tag);
  /// See Gate::give_back().
  void give_back(std::uint32_t session);
  /// Calls `end(tag, by_another_login)` for the connections of replaced sessions. `end` must end the
  /// connection and may still seal a datagram. The session ends afterwards.
  template <class End>
  void end_replaced(End end) {
    if (Gate* const gate = std::get_if<Gate>(&end_)) {
      gate->end_replaced(
          [&](const Gate::Session& session, bool by_another) { end(session.tag, by_another); });
    }
  }
  /// The connection of the session has ended.
  void release(std::uint32_t session, double now_s);
  /// See Gate::login() and Gate::revoke_login(). A client's guard knows no logins.
  [[nodiscard]] PeerLogin login(std::uint32_t session) const;
  void revoke_login(const PeerLogin& login, double now_s, std::uint64_t unix_ms);
  /// Removes what has expired, and calls `send(address, datagram)` with the tickets that are due. Works at
  /// most once a second.
  template <class Send>
  void tidy(double now_s, std::uint64_t unix_s, Send send) {
    Gate* const gate = std::get_if<Gate>(&end_);
    constexpr double kEveryS = 1.0;
    if (gate == nullptr || now_s - tidied_s_ < kEveryS) return;
    tidied_s_ = now_s;
    gate->tidy(now_s, unix_s);
    gate->renew_tickets(now_s, unix_s, [&](Gate::Session& session, const Ticket& ticket) {
      send(session.address, sealed_ticket(session, ticket));
    });
  }

  /// At a server: writes a datagram of the session with this content. Returns an empty span if it is too
  /// large. Valid until the next call.
  [[nodiscard]] std::span<const std::byte> write(Gate::Session& session, Kind kind,
                                                 std::span<const std::byte> content) {
    return write(session.sealer ? &*session.sealer : nullptr, session.number, kind, content);
  }
  /// At a client whose session has begun: writes a datagram to the server. Otherwise as the function above.
  [[nodiscard]] std::span<const std::byte> write(Kind kind, std::span<const std::byte> content);

  /// At a server: writes a close with this reason. Valid until the next call.
  [[nodiscard]] std::span<const std::byte> write_close(Gate::Session& session, std::uint32_t reason);
  /// At a client whose session has begun: writes a close to the server.
  [[nodiscard]] std::span<const std::byte> write_close(std::uint32_t reason);

  /// Returns the session. Null at a client, or if there is no such session. The pointer is valid as long as
  /// the session has a connection.
  [[nodiscard]] Gate::Session* find(std::uint32_t session);
  [[nodiscard]] const Gate* gate() const { return std::get_if<Gate>(&end_); }

  /// At a client, before the session begins: the handshake message to send now, or nullopt.
  [[nodiscard]] std::optional<std::span<const std::byte>> to_send(double now_s);
  /// At a client: what is wrong with its token, if the server has refused it or ignores it
  /// (ClientHandshake::is_ignored()). The attempt is then over. A ticket that is ignored is not at fault: the
  /// server that issued it had its key, so there is probably no room, and the client goes on asking.
  [[nodiscard]] std::optional<TokenFault> token_fault(double now_s) const;
  /// At a client whose time is up: true if the server was there, but ignored the token or ticket.
  [[nodiscard]] bool was_ignored() const;
  /// At a client: its session. Null before the session begins.
  [[nodiscard]] const ClientHandshake::Session* joined() const;

 private:
  struct Client {
    explicit Client(ClientHandshake begun) : handshake(std::move(begun)) {}
    ClientHandshake handshake;
    std::optional<Sealer> sealer;
    std::optional<Opener> opener;
  };

  [[nodiscard]] std::span<const std::byte> sealed_ticket(Gate::Session& session, const Ticket& ticket);
  [[nodiscard]] Arrival to_client(Client& client, std::uint32_t session, std::span<const std::byte> datagram);
  [[nodiscard]] Arrival to_server(Gate& gate, Gate::Session& session, const SocketAddress& from,
                                  std::span<const std::byte> datagram, double now_s);
  void follow(Gate& gate, Gate::Session& session, const PathCheck::Datagram& datagram, Arrival& arrival,
              double now_s);
  [[nodiscard]] Arrival opened(Opener* opener, std::uint32_t session, std::span<const std::byte> datagram,
                               bool* newest);
  [[nodiscard]] std::span<const std::byte> write(Sealer* sealer, std::uint32_t session, Kind kind,
                                                 std::span<const std::byte> content);

  std::variant<Gate, Client> end_;
  bool is_open_ = false;  // without security
  PathNumbers numbers_;   // used at a server
  double tidied_s_ = -1e300;
  std::array<std::byte, kLargest> plain_{};
  std::array<std::byte, kLargest + kSealBytes> sealed_{};
};

}  // namespace reckoner::secure
