// SPDX-License-Identifier: MIT
#pragma once

#include "allowance.hpp"
#include "handshake.hpp"
#include "path_check.hpp"
#include "traffic_limit.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include <reckoner/net/connect_token.hpp>
#include <reckoner/net/refusal.hpp>

namespace reckoner::secure {

/// Which tokens were shown, until they expire. Shared by the gates of one server: a token is good once.
class UsedTokens {
 public:
  using Tag = std::array<std::byte, 16>;  ///< the last bytes of the sealed grant
  struct Use {
    PublicKey client{};
    std::uint32_t session = 0;
    std::uint64_t expires_s = 0;
    bool used_up = false;  ///< a connection stood on its session
  };

  /// Null if it was not.
  [[nodiscard]] Use* find(const Tag& tag) {
    const auto found = uses_.find(tag);
    return found == uses_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] bool full() const { return uses_.size() >= kMost; }
  void note(const Tag& tag, const Use& use) { uses_[tag] = use; }
  void tidy(std::uint64_t unix_s) {
    std::erase_if(uses_, [&](const auto& entry) { return entry.second.expires_s <= unix_s; });
  }

 private:
  static constexpr std::size_t kMost = 262'144;

  std::map<Tag, Use> uses_;
};

struct GateConfig {
  SecretKey key;  ///< shared with whoever issues tokens
  std::uint64_t game = 0;
  std::vector<ServerAddress> addresses;  ///< under which clients reach it; empty: tokens for any will do
  std::size_t most_sessions = 64;
  std::size_t most_sessions_per_host = 16;  ///< of one IPv4 address: a household, a school behind a NAT
  double handshakes_per_second = 10.0;      ///< of one IPv4 address; ten seconds' worth at once
  double opened_per_second = 2000.0;        ///< tokens that are looked into, of all addresses together
  double half_open_s = 5.0;                 ///< a session that nothing follows is gone then
  double ticket_s = 3600.0;                 ///< how long a ticket is good; held sessions get new ones
  std::shared_ptr<UsedTokens> used{};       ///< shared with other gates; null: its own
  TransportLimits limits{};                 ///< of what a session's client may send
};

/// A server's gate: lets in who returns a cookie to the address it was sent to and has a token that nobody
/// used before. Until then nothing of an address is remembered but a bounded count of its handshakes, and no
/// answer is longer than what asked for it.
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
    PublicKey client{};
    UsedTokens::Tag token{};  ///< with which it began
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

  /// A connection stands on the session, or no more: then it is kept a moment for what is still on its way.
  void hold(Session& session) {
    session.held = true;
    if (UsedTokens::Use* const use = config_.used->find(session.token)) use->used_up = true;
  }
  void release(std::uint32_t number, double now_s);

  /// Now and then: forgets what is over.
  void tidy(double now_s, std::uint64_t unix_s);

  /// Now and then: calls `send(session, ticket)` for held sessions whose clients are to have another ticket.
  /// That is due twelve times before one expires, so that none need be acknowledged.
  template <class Send>
  void renew_tickets(double now_s, std::uint64_t unix_s, Send send) {
    for (auto& [number, session] : sessions_) {
      if (!session->held || now_s < session->renew_s) continue;
      session->renew_s = now_s + renewal_s();
      send(*session, ticket_for(session->grant, unix_s));
    }
  }

  [[nodiscard]] std::size_t sessions() const { return sessions_.size(); }
  [[nodiscard]] const Counts& counts() const { return counts_; }
  /// Why receive() had no answer.
  [[nodiscard]] Refusal refusal() const { return refusal_; }

 private:
  [[nodiscard]] bool allowed(const ServerAddress& from, double now_s);
  [[nodiscard]] Cookie cookie_for(const ServerAddress& from, const PublicKey& client,
                                  std::int64_t epoch) const;
  std::optional<std::span<const std::byte>> admit(const ServerAddress& from, const Response& response,
                                                  double now_s, std::uint64_t unix_s);
  std::span<const std::byte> begin(const ServerAddress& from, const Response& response,
                                   const ConnectGrant& grant, const SessionKeys& keys,
                                   const PublicKey& server, double now_s, std::uint64_t unix_s);
  [[nodiscard]] bool full_for(const ServerAddress& from) const;
  [[nodiscard]] Ticket ticket_for(const ConnectGrant& grant, std::uint64_t unix_s) const;
  [[nodiscard]] double renewal_s() const { return config_.ticket_s / 12.0; }
  std::nullopt_t refuse(Refusal why, std::uint64_t& count);

  GateConfig config_;
  SecretKey cookie_key_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Session>> sessions_;
  std::unordered_map<std::uint32_t, Allowance> handshakes_;  // by host
  Allowance opened_;
  TrafficLimit traffic_;
  std::array<std::byte, Challenge::kBytes> challenge_{};
  Counts counts_;
  Refusal refusal_ = Refusal::malformed;
};

}  // namespace reckoner::secure
