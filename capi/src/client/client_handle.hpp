// SPDX-License-Identifier: MIT
#pragma once

#include "capi/src/values/calls.hpp"

#include <memory>
#include <optional>
#include <vector>

#include <reckoner/client/client.hpp>
#include <reckoner/net/network_dialer.hpp>
#include <reckoner/net/network_transport.hpp>

/// A client with its transport.
struct reckoner_client {
  std::unique_ptr<reckoner::NetworkTransport> transport;  // of a client without reconnects; otherwise
  std::unique_ptr<reckoner::NetworkDialer> dialer;
  bool secure = false;     // whether a reconnecting client has a token
  std::uint64_t game = 0;  // game number of a reconnecting client
  std::optional<reckoner::Client> object;
  std::vector<reckoner_entity> ids;                  // of the last returned poses
  std::vector<float> orientations;                   // of the last returned poses
  std::vector<reckoner_corrected_entity> corrected;  // of the last polled correction
  std::vector<reckoner_prediction_step> steps;       // of the last polled correction
  mutable reckoner::CallError call_error{};          // of the last call

  /// The transport in use; null while there is no connection.
  [[nodiscard]] reckoner::NetworkTransport* network() const {
    return dialer ? dialer->transport() : transport.get();
  }
  [[nodiscard]] reckoner::TransportStats network_stats() const {
    return dialer ? dialer->stats() : transport->stats();
  }
};
