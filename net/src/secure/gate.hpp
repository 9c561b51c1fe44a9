// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/secure/handshake.hpp"
#include "net/src/secure/handshake_limit.hpp"
#include "net/src/secure/path_check.hpp"
#include "net/src/secure/used_tokens.hpp"
#include "net/src/transport/limits/allowance.hpp"
#include "net/src/transport/limits/traffic_limit.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include <reckoner/net/connect_token.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner::secure {

struct GateConfig {
  SecretKey key{};       ///< shared with the backend that issues tokens; not used if is_open
  bool is_open = false;  ///< admits everybody who has proven an address, and no token
  std::uint64_t game = 0;
  std::vector<SocketAddress> addresses{};  ///< addresses of this server; empty: accept tokens for any server
  std::size_t most_sessions = 64;
  std::size_t most_sessions_per_host =
      16;  ///< from one address (IPv6: one /64), for example a household behind a NAT
  double handshakes_per_second = 10.0;  ///< new sessions from one address (IPv6: one /64), 1/s; bursts of ten
                                        ///< seconds' worth; 0: no limit
  double begun_per_second = 2000.0;     ///< new sessions from all addresses, 1/s; 0: no limit
  double half_open_s = 5.0;             ///< a session without a connection ends after this time
  double ticket_s = 3600.0;             ///< validity of a ticket; sessions with a connection get new ones
  UsedTokens::Limits tokens{};
  std::shared_ptr<UsedTokens>
      used{};  ///< shared with other gates; null: the gate makes its own, with the limits in `tokens`
  TransportLimits limits{};  ///< limits on the traffic from one client and from one address
};

/// Admits clients to a server. A client must return the cookie that was sent to its address, and it must
/// present an unused token and prove that it has the token's keys. Until then, the gate stores nothing about
/// the address, and no answer is longer than its request.
///
/// A returning client replaces its own older session. So does a client with another token for the same client
/// id, unless the backend issued that token before the one of the present session. The login that the backend
/// issued last wins.
///
/// An open gate admits everybody who returns the cookie, and no token. Nobody has a login there.
class Gate {
 public:
  struct Session {
    std::uint32_t number = 0;
    SocketAddress address;           ///< the last address that the client has proven
    std::uint16_t version = 0;       ///< wire version of the client
    ConnectGrant grant{};            ///< the content of the client's token
    std::optional<Sealer> sealer{};  ///< nullopt like the opener: an open gate began the session
    std::optional<Opener> opener{};
    PathCheck path{};        ///< checks datagrams from another address
    TrafficMeter traffic{};  ///< the client's remaining traffic allowance
    double until_s = 0.0;    ///< when it ends, unless it has a connection
    double renew_s = 0.0;    ///< when the next ticket is due, while it has a connection
    bool is_bound = false;   ///< it has a connection
    bool is_over = false;    ///< its connection has ended
    std::uint32_t tag = 0;   ///< a number for the owner of the connection
    /// The accepted message, to send it again.
    std::array<std::byte, Accepted::kBytes> accepted{};
    Attempt attempt{};  ///< the client's attempt that `accepted` answers
    Login login{};      ///< login of the token that began the session
  };
  struct Counts {
    std::uint64_t challenged = 0;
    std::uint64_t accepted = 0;
    std::uint64_t malformed = 0;   ///< not a handshake message
    std::uint64_t wrong_game = 0;  ///< a client or a token of another game
    std::uint64_t wrong_cookie = 0;
    std::uint64_t wrong_token = 0;  ///< forged, expired, for another server
    std::uint64_t old_version = 0;  ///< a client of a wire version before 13
    std::uint64_t token_reused = 0;
    std::uint64_t over_limit = 0;
  };

  explicit Gate(const GateConfig& config);

  /// How often the gate says what is wrong with a genuine token, 1/s. Beyond that it is silent.
  static constexpr double kRefusalsPerSecond = 1000.0;

  /// Handles a datagram that belongs to no session. Returns the answer, or nullopt; valid until the next
  /// call. A refusal of a genuine token has an answer, too.
  [[nodiscard]] std::optional<std::span<const std::byte>> receive(const SocketAddress& from,
                                                                  std::span<const std::byte> datagram,
                                                                  double now_s, std::uint64_t unix_s);

  /// Returns the session, or null.
  [[nodiscard]] Session* find(std::uint32_t number);
  [[nodiscard]] const Session* find(std::uint32_t number) const {
    const auto found = sessions_.find(number);
    return found == sessions_.end() ? nullptr : found->second.get();
  }

  /// Charges a genuine datagram to the allowances of the session's client and of the client's proven address.
  /// The sender address of the datagram is not charged, because it may be forged. Returns the reason for a
  /// refusal, or nullopt.
  [[nodiscard]] std::optional<Refusal> beyond_share(Session& session, std::size_t bytes, double now_s) {
    return traffic_.refuse(session.traffic, session.address.host, bytes, now_s);
  }

  /// Binds a connection to the session. Returns false if the session had a connection before or was replaced,
  /// perhaps at another gate. The connection must then be refused.
  [[nodiscard]] bool bind(Session& session);
  /// The server refuses the client because it speaks another protocol version. Its token stays valid.
  void give_back(const Session& session);
  /// Sets the address that the client has proven.
  void move(Session& session, const SocketAddress& to);
  /// The connection has ended. The session stays for a moment, for datagrams that are still in flight.
  void release(std::uint32_t number, double now_s);

  /// Returns the login of a session. Empty if there is no such session.
  [[nodiscard]] PeerLogin login(std::uint32_t number) const;
  /// Makes a login invalid (Transport::revoke_login()), here and at all gates with these used tokens.
  /// Sessions with a connection continue. A session without a connection gets none any more. `now_s`: on a
  /// monotonic clock. `unix_ms`: milliseconds since 1970.
  void revoke_login(const PeerLogin& login, double now_s, std::uint64_t unix_ms);

  /// Ends replaced sessions. Before that, it calls `end(session, by_another_login)` for those that have a
  /// connection. Call it soon after receive() of any gate.
  template <class End>
  void end_replaced(End end) {
    config_.used->take_ended(number_, [&](std::uint32_t number, bool by_another_login) {
      Session* const session = find(number);
      if (session == nullptr) return;
      if (session->is_bound) end(*session, by_another_login);
      erase(number);
    });
  }

  /// Removes expired sessions and tokens. Call it regularly.
  void tidy(double now_s, std::uint64_t unix_s);

  /// Calls `send(session, ticket)` for sessions with a connection whose next ticket is due. Twelve tickets
  /// are sent before one expires, so none needs an acknowledgement. Call it regularly.
  template <class Send>
  void renew_tickets(double now_s, std::uint64_t unix_s, Send send) {
    if (config_.is_open) return;
    for (auto& [number, session] : sessions_) {
      if (!session->is_bound || now_s < session->renew_s) continue;
      session->renew_s = now_s + renewal_s();
      const Ticket ticket = ticket_for(*session, unix_s);
      config_.used->keep(session->login.id, place_of(*session), life(ticket.expires_s, now_s, unix_s));
      if (ticket.expires_s > unix_s) send(*session, ticket);
    }
  }

  [[nodiscard]] std::size_t sessions() const { return sessions_.size(); }
  [[nodiscard]] const std::shared_ptr<UsedTokens>& used() const { return config_.used; }
  [[nodiscard]] const Counts& counts() const { return counts_; }
  /// The reason why the last receive() refused its datagram. Nullopt if it did not.
  [[nodiscard]] const std::optional<Refusal>& refusal() const { return refusal_; }

 private:
  using Sessions = std::unordered_map<std::uint32_t, std::unique_ptr<Session>>;

  [[nodiscard]] Cookie cookie_for(const SocketAddress& from, const PublicKey& client,
                                  std::int64_t epoch) const;
  std::optional<std::span<const std::byte>> admit_open(const SocketAddress& from,
                                                       const OpenResponse& response, double now_s);
  [[nodiscard]] bool has_cookie(const SocketAddress& from, const PublicKey& client, const Cookie& cookie,
                                double now_s) const;
  [[nodiscard]] std::uint32_t number_for(const Cookie& cookie) const;
  std::optional<std::span<const std::byte>> admit(const SocketAddress& from, const Response& response,
                                                  double now_s, std::uint64_t unix_s);
  [[nodiscard]] std::optional<OpenedGrant> open(const Response& response) const;
  [[nodiscard]] std::optional<TokenFault> fault_of(const Response& response, const ConnectGrant& grant,
                                                   std::uint64_t unix_s) const;
  std::optional<std::span<const std::byte>> answer_fault(TokenFault fault, const Response& response,
                                                         const OpenedGrant& opened, double now_s);
  std::span<const std::byte> begin(const SocketAddress& from, const OpenedGrant& opened,
                                   const SessionKeys& keys, const PublicKey& server, const Response& response,
                                   double now_s, std::uint64_t unix_s);
  [[nodiscard]] bool full_for(const SocketAddress& from, std::span<const UsedTokens::Entry> less) const;
  [[nodiscard]] UsedTokens::Entry place_of(const Session& session) const { return {number_, session.number}; }
  [[nodiscard]] UsedTokens::Life life(std::uint64_t expires_s, double now_s, std::uint64_t unix_s) const {
    return UsedTokens::life_of(expires_s, config_.ticket_s, now_s, unix_s);
  }
  [[nodiscard]] Ticket ticket_for(const Session& session, std::uint64_t unix_s) const;
  [[nodiscard]] double renewal_s() const { return config_.ticket_s / 12.0; }
  void leave(const IpAddress& host);
  Sessions::iterator erase(Sessions::iterator which);
  void erase(std::uint32_t number);
  std::nullopt_t refuse(Refusal why, std::uint64_t& count);

  GateConfig config_;
  std::uint32_t number_;  // number of this gate among those that share `used`
  SecretKey cookie_key_;
  Sessions sessions_;
  std::unordered_map<IpAddress, std::size_t, IpAddressHash> at_host_;  // sessions by limited_host()
  HandshakeLimit handshakes_;
  TrafficLimit traffic_;
  std::array<std::byte, Challenge::kBytes> challenge_{};
  std::array<std::byte, Refused::kBytes> refused_{};
  std::array<std::byte, OpenAccepted::kBytes> open_accepted_{};
  Allowance refusals_;
  Counts counts_;
  std::optional<Refusal> refusal_;
};

}  // namespace reckoner::secure
