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
#include <reckoner/net/network_dialer.hpp>
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
    if (network_down) return Error{"the network is down"};
    if (!round_) round_.emplace(std::max<std::size_t>(1, dead_addresses.size()));
    dialed_addresses.push_back(round_->dial());
    if (dialed_addresses.back() < dead_addresses.size() && dead_addresses[dialed_addresses.back()])
      return &dead_transport_.emplace();
    Transport& transport = network_.add_client(reason_);
    client_ = network_.newest_client();
    ++dialed;
    return &transport;
  }
  bool try_next_server() override { return round_ && round_->try_next_server(); }
  [[nodiscard]] std::string failure_hint() const override { return failure_hint_text; }
  [[nodiscard]] double random_fraction() override {
    return scenario::to_unit_interval(scenario::hash(seed_, ++draws_));
  }

  /// The index that the newest connection has in the network. Nullopt before the first connection.
  [[nodiscard]] std::optional<std::size_t> client() const { return client_; }

  bool network_down = false;      ///< true: every attempt fails at once
  std::string failure_hint_text;  ///< the text that failure_hint() returns
  std::size_t dialed = 0;         ///< number of connections made
  /// One element for each address of the server: true if nothing answers there. The other addresses all lead
  /// to the same server. If empty, there is one address and it answers. The size must not change after the
  /// first attempt.
  std::vector<bool> dead_addresses;
  std::vector<std::size_t> dialed_addresses;  ///< the index of the address that each attempt used

 private:
  SimNetwork& network_;
  std::uint32_t reason_;
  std::uint64_t seed_;
  std::uint64_t draws_ = 0;
  std::optional<std::size_t> client_;
  std::optional<ServerRotation> round_;
  std::optional<DeadTransport> dead_transport_;
};

}  // namespace reckoner::harness
