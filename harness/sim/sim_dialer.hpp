// SPDX-License-Identifier: MIT
#pragma once

#include "harness/sim/dead_transport.hpp"
#include "harness/sim/sim_transport.hpp"
#include "scenario/builtin/random.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <reckoner/net/dialer.hpp>
#include <reckoner/net/enet_dialer.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner::harness {

/// Connects a client over a simulated network. Every connection has the links of the network's configuration.
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
  [[nodiscard]] std::string doubt() const override { return doubts; }
  [[nodiscard]] double chance() override {
    return scenario::to_unit_interval(scenario::hash(seed_, ++chances_));
  }

  /// The index of the newest connection in the network, or nullopt before the first.
  [[nodiscard]] std::optional<std::size_t> client() const { return client_; }

  bool broken = false;     ///< true: every attempt fails at once
  std::string doubts;      ///< the text that doubt() returns
  std::size_t dialed = 0;  ///< number of connections made
  /// One element for each address of the server: true if nothing answers there. The other addresses all lead
  /// to the same server. If empty, there is one address and it answers. The size must not change after the
  /// first attempt.
  std::vector<bool> dead;
  std::vector<std::size_t> went;  ///< the index of the address that each attempt used

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
