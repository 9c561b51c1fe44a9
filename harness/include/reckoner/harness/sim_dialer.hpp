// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/harness/sim_transport.hpp>
#include <reckoner/net/dialer.hpp>
#include <reckoner/net/server_round.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/scenario/random.hpp>

namespace reckoner::harness {

/// Goes to where nobody is: told after five seconds, as by a transport over UDP.
class DeadTransport final : public Transport {
 public:
  void service(double now_s) override {
    if (!end_s_) end_s_ = now_s + 5.0;
    now_s_ = now_s;
  }
  [[nodiscard]] std::optional<TransportEvent> poll() override {
    if (told_ || !end_s_ || now_s_ < *end_s_) return std::nullopt;
    told_ = true;
    return TransportEvent{.kind = TransportEvent::Kind::disconnected, .peer = PeerId{1}};
  }
  bool send(PeerId, Channel, std::span<const std::byte>) override { return false; }
  [[nodiscard]] std::size_t max_state_bytes(PeerId) const override { return 0; }
  void disconnect(PeerId, std::uint32_t) override {}
  [[nodiscard]] const TransportStats& stats() const override { return stats_; }

 private:
  TransportStats stats_;
  std::optional<double> end_s_;
  double now_s_ = 0.0;
  bool told_ = false;
};

/// Makes connections of a simulated network, over links as the network's.
class SimDialer final : public Dialer {
 public:
  SimDialer(SimNetwork& network, std::uint32_t reason, std::uint64_t seed)
      : network_(network), reason_(reason), seed_(seed) {}

  [[nodiscard]] Result<Transport*> dial() override {
    if (client_) network_.drop_client(*client_, true);
    client_.reset();
    if (broken) return Error{"the network is down"};
    if (!round_) round_.emplace(std::max<std::size_t>(1, dead.size()));
    went.push_back(round_->dial());
    if (went.back() < dead.size() && dead[went.back()]) return &nobody_.emplace();
    Transport& transport = network_.add_client(reason_);
    client_ = network_.newest_client();
    ++dialed;
    return &transport;
  }
  bool try_elsewhere() override { return round_ && round_->try_elsewhere(); }
  [[nodiscard]] double chance() override {
    return scenario::to_unit_interval(scenario::hash(seed_, ++chances_));
  }

  /// The newest connection's number in the network.
  [[nodiscard]] std::optional<std::size_t> client() const { return client_; }

  bool broken = false;     ///< no attempt can even begin
  std::size_t dialed = 0;  ///< connections made
  /// At which of its servers nobody is; the others are ways to the same one. None: there is one, with
  /// somebody. Their number must stay after the first attempt.
  std::vector<bool> dead;
  std::vector<std::size_t> went;  ///< to which of them, attempt by attempt

 private:
  SimNetwork& network_;
  std::uint32_t reason_;
  std::uint64_t seed_;
  std::uint64_t chances_ = 0;
  std::optional<std::size_t> client_;
  std::optional<ServerRound> round_;
  std::optional<DeadTransport> nobody_;
};

}  // namespace reckoner::harness
