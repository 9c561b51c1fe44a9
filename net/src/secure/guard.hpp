// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/secure/gate.hpp"
#include "net/src/secure/handshake.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

namespace reckoner::secure {

/// Stands between ENet and its socket: opens every datagram that arrives, and seals every one that leaves. Of
/// ENet it knows one number, by which ENet tells connections apart: it must be the session's, which no other
/// has.
class Guard {
 public:
  /// Larger than any datagram that is sealed.
  static constexpr std::size_t kLargest = 1500;

  explicit Guard(const GateConfig& server) : end_(std::in_place_type<Gate>, server) {}
  Guard(const ConnectToken& token, std::uint64_t game, const SecretKey& secret = {})
      : end_(std::in_place_type<Client>, token, game, secret) {}

  struct Arrival {
    enum class What : std::uint8_t {
      nothing,  ///< refused, or taken in
      answer,   ///< to be sent back to where it came from; a client's always to the server that it joined
      enet,     ///< for ENet
      state,    ///< a state payload
      ticket,   ///< within the guard only
      probe,    ///< the same
      echo,     ///< the same
    };
    What what = What::nothing;
    std::span<const std::byte> bytes{};  ///< valid until the next call
    std::uint32_t session = 0;
    std::uint32_t tag = 0;             ///< as given to hold()
    Gate::Session* from = nullptr;     ///< at a server: of which session it says it is
    bool moved = false;                ///< the session's client has proven another address
    bool probe = false;                ///< probe() is to be called
    std::optional<Refusal> refusal{};  ///< why it is `nothing`, unless it was taken in
  };
  /// Takes a datagram in. Time on any clock that never goes back, and in seconds since 1970.
  [[nodiscard]] Arrival arrive(const ServerAddress& from, std::span<const std::byte> datagram, double now_s,
                               std::uint64_t unix_s);

  /// Calls `send(address, datagram)` with what finds out where a session's client is.
  template <class Send>
  void probe(Gate::Session& session, double now_s, Send send) {
    session.path.probe(session.address, now_s, [&](const ServerAddress& to) {
      send(to, seal(session.sealer, Kind::probe, numbers_.make(session.number, to, now_s)));
    });
  }

  /// True if a connection with this number may stand on the session.
  [[nodiscard]] static bool belongs(std::uint32_t connection, std::uint32_t session) {
    return connection != 0 && connection == session;
  }

  /// The connection is made: the session lasts as long as it does, and its arrivals carry `tag`. False if it
  /// must not stand (Gate::hold()).
  [[nodiscard]] bool hold(std::uint32_t session, std::uint32_t tag);
  /// Calls `end(tag, by_another_login)` for connections whose session others have taken the place of; it must
  /// end them, and may seal a last word. Then the session is gone.
  template <class End>
  void end_replaced(End end) {
    if (Gate* const gate = std::get_if<Gate>(&end_)) {
      gate->end_replaced(
          [&](const Gate::Session& session, bool by_another) { end(session.tag, by_another); });
    }
  }
  /// It has ended.
  void release(std::uint32_t session, double now_s);
  /// Forgets what is over, and calls `send(address, datagram)` with the tickets that are due. Looks once a
  /// second, however often it is called.
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

  /// What seals for the other end of a session; null if there is none. It stays where it is as long as the
  /// session is held.
  [[nodiscard]] Sealer* sealer_of(std::uint32_t session);
  /// Empty if there is too much. Valid until the next call.
  [[nodiscard]] std::span<const std::byte> seal(Sealer& sealer, Kind kind, std::span<const std::byte> plain);

  /// Null for a client, or if there is none.
  [[nodiscard]] const Gate::Session* find(std::uint32_t session);
  [[nodiscard]] const Gate* gate() const { return std::get_if<Gate>(&end_); }

  /// A client's message that is to be sent now, if any, before the session begins.
  [[nodiscard]] std::optional<std::span<const std::byte>> to_send(double now_s);
  /// A client's session; nothing before it begins.
  [[nodiscard]] const ClientHandshake::Session* joined() const;

 private:
  struct Client {
    Client(const ConnectToken& token, std::uint64_t game, const SecretKey& secret)
        : handshake(token, game, secret) {}
    ClientHandshake handshake;
    std::optional<Sealer> sealer;
    std::optional<Opener> opener;
  };

  [[nodiscard]] std::span<const std::byte> sealed_ticket(Gate::Session& session, const Ticket& ticket);
  [[nodiscard]] Arrival to_client(Client& client, std::uint32_t session, std::span<const std::byte> datagram);
  [[nodiscard]] Arrival to_server(Gate& gate, Gate::Session& session, const ServerAddress& from,
                                  std::span<const std::byte> datagram, double now_s);
  void follow(Gate& gate, Gate::Session& session, const PathCheck::Datagram& datagram, Arrival& arrival,
              double now_s);
  [[nodiscard]] Arrival opened(Opener& opener, std::uint32_t session, std::span<const std::byte> datagram,
                               bool* newest);

  std::variant<Gate, Client> end_;
  PathNumbers numbers_;  // a server's
  double tidied_s_ = -1e300;
  std::array<std::byte, kLargest> plain_{};
  std::array<std::byte, kLargest + kSealBytes> sealed_{};
};

}  // namespace reckoner::secure
