// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/secure/handshake.hpp"
#include "net/src/secure/path_check.hpp"
#include "net/src/secure/used_tokens.hpp"
#include "net/src/transport/allowance.hpp"
#include "net/src/transport/traffic_limit.hpp"

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

namespace reckoner::secure {

struct GateConfig {
  SecretKey key;  ///< shared with whoever issues tokens
  std::uint64_t game = 0;
  std::vector<ServerAddress> addresses;  ///< under which clients reach it; empty: tokens for any will do
  std::size_t most_sessions = 64;
  std::size_t most_sessions_per_host = 16;  ///< of one IPv4 address: a household, a school behind a NAT
  double handshakes_per_second =
      10.0;  ///< sessions of one IPv4 address; ten seconds' worth at once, 0: no limit
  double begun_per_second = 2000.0;  ///< sessions of all addresses together; 0: no limit
  double half_open_s = 5.0;          ///< a session that nothing follows is gone then
  double ticket_s = 3600.0;          ///< how long a ticket is good; held sessions get new ones
  UsedTokens::Limits tokens{};
  std::shared_ptr<UsedTokens> used{};  ///< shared with other gates, with limits of its own; null: as `tokens`
  TransportLimits limits{};            ///< of what a session's client may send
};

/// A server's gate: lets in who returns a cookie to the address it was sent to and has a token, with its
/// keys, that nobody used before. Until then nothing of an address is remembered, and no answer is longer
/// than what asked for it.
///
/// Who comes back takes the place of its older session, and so does who comes with another token of the same
/// client id, at once, unless the backend has issued that before the one that stands: whoever has the newest
/// word of the backend plays on.
class Gate {
 public:
  struct Session {
    std::uint32_t number = 0;
    ServerAddress address;  ///< the client's, as it has proven last
    ConnectGrant grant;     ///< what the client's token says
    Sealer sealer;
    Opener opener;
    PathCheck path{};                                    ///< of what comes from another address
    TrafficMeter traffic{};                              ///< what the client has left of what it may send
    double until_s = 0.0;                                ///< ends then, unless it is held
    double renew_s = 0.0;                                ///< its ticket, while it is held
    bool held = false;                                   ///< a connection stands on it
    std::uint32_t tag = 0;                               ///< whoever holds it may put a number here
    std::array<std::byte, Accepted::kBytes> accepted{};  ///< the message, for repeating
    Login login;                                         ///< of the token with which it began
  };
  struct Counts {
    std::uint64_t challenged = 0;
    std::uint64_t accepted = 0;
    std::uint64_t malformed = 0;  ///< no message of a handshake, or of another game
    std::uint64_t wrong_cookie = 0;
    std::uint64_t wrong_token = 0;  ///< forged, expired, for another server
    std::uint64_t token_reused = 0;
    std::uint64_t over_limit = 0;
  };

  explicit Gate(const GateConfig& config);

  /// Takes a datagram of no session. What is to be sent back, if anything; valid until the next call.
  [[nodiscard]] std::optional<std::span<const std::byte>> receive(const ServerAddress& from,
                                                                  std::span<const std::byte> datagram,
                                                                  double now_s, std::uint64_t unix_s);

  /// Null if there is none.
  [[nodiscard]] Session* find(std::uint32_t number);

  /// Takes what a genuine datagram costs off the share of the session's client and of its address, the one
  /// that it has proven: a sender's address that is none of its own takes nothing off another's. Why it is
  /// not to be taken in, or nothing.
  [[nodiscard]] std::optional<Refusal> beyond_share(Session& session, std::size_t bytes, double now_s) {
    return traffic_.refuse(session.traffic, session.address.host, bytes, now_s);
  }

  /// A connection wants to stand on the session. False if one did before, or something newer has taken its
  /// place, perhaps at another gate: then it must not.
  [[nodiscard]] bool hold(Session& session);
  /// Its client has proven to be at another address.
  void move(Session& session, const ServerAddress& to);
  /// It stands no more: the session is kept a moment for what is still on its way.
  void release(std::uint32_t number, double now_s);

  /// Soon after receive(), of any gate: ends sessions whose place others have taken, after calling
  /// `end(session, by_another_login)` for those that are held.
  template <class End>
  void end_replaced(End end) {
    config_.used->take_ended(number_, [&](std::uint32_t number, bool by_another_login) {
      Session* const session = find(number);
      if (session == nullptr) return;
      if (session->held) end(*session, by_another_login);
      erase(number);
    });
  }

  /// Now and then: forgets what is over.
  void tidy(double now_s, std::uint64_t unix_s);

  /// Now and then: calls `send(session, ticket)` for held sessions whose clients are to have another ticket.
  /// That is due twelve times before one expires, so that none need be acknowledged.
  template <class Send>
  void renew_tickets(double now_s, std::uint64_t unix_s, Send send) {
    for (auto& [number, session] : sessions_) {
      if (!session->held || now_s < session->renew_s) continue;
      session->renew_s = now_s + renewal_s();
      const Ticket ticket = ticket_for(*session, unix_s);
      config_.used->keep(session->login.id, place_of(*session), life(ticket.expires_s, now_s, unix_s));
      if (ticket.expires_s > unix_s) send(*session, ticket);
    }
  }

  [[nodiscard]] std::size_t sessions() const { return sessions_.size(); }
  [[nodiscard]] const Counts& counts() const { return counts_; }
  /// Why receive() had no answer.
  [[nodiscard]] Refusal refusal() const { return refusal_; }

 private:
  using Sessions = std::unordered_map<std::uint32_t, std::unique_ptr<Session>>;

  [[nodiscard]] bool allowed(const ServerAddress& from, double now_s);
  [[nodiscard]] bool may_begin(double now_s);
  [[nodiscard]] Cookie cookie_for(const ServerAddress& from, const PublicKey& client,
                                  std::int64_t epoch) const;
  std::optional<std::span<const std::byte>> admit(const ServerAddress& from, const Response& response,
                                                  double now_s, std::uint64_t unix_s);
  [[nodiscard]] std::optional<OpenedGrant> open(const Response& response, std::uint64_t unix_s) const;
  std::span<const std::byte> begin(const ServerAddress& from, const OpenedGrant& opened,
                                   const SessionKeys& keys, const PublicKey& server, double now_s,
                                   std::uint64_t unix_s);
  [[nodiscard]] bool full_for(const ServerAddress& from, std::span<const UsedTokens::Entry> less) const;
  [[nodiscard]] UsedTokens::Entry place_of(const Session& session) const { return {number_, session.number}; }
  [[nodiscard]] UsedTokens::Life life(std::uint64_t expires_s, double now_s, std::uint64_t unix_s) const;
  [[nodiscard]] Ticket ticket_for(const Session& session, std::uint64_t unix_s) const;
  [[nodiscard]] double renewal_s() const { return config_.ticket_s / 12.0; }
  void leave(std::uint32_t host);
  Sessions::iterator erase(Sessions::iterator which);
  void erase(std::uint32_t number);
  std::nullopt_t refuse(Refusal why, std::uint64_t& count);

  GateConfig config_;
  std::uint32_t number_;  // among those that share the used tokens
  SecretKey cookie_key_;
  Sessions sessions_;
  std::unordered_map<std::uint32_t, std::size_t> at_host_;   // how many sessions are there
  std::unordered_map<std::uint32_t, Allowance> handshakes_;  // by host
  Allowance begun_;
  TrafficLimit traffic_;
  std::array<std::byte, Challenge::kBytes> challenge_{};
  Counts counts_;
  Refusal refusal_ = Refusal::malformed;
};

}  // namespace reckoner::secure
