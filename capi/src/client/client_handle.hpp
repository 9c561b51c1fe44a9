// SPDX-License-Identifier: MIT
#pragma once

#include "capi/src/client/client_network.hpp"
#include "capi/src/values/calls.hpp"

#include <memory>
#include <optional>
#include <vector>

#include <reckoner/client/client.hpp>

/// A client with its network.
struct reckoner_client {
  std::unique_ptr<reckoner::capi::ClientNetwork> network;
  std::optional<reckoner::Client> object;
  std::vector<reckoner_entity> ids;                  // of the last returned poses
  std::vector<float> orientations;                   // of the last returned poses
  std::vector<reckoner_corrected_entity> corrected;  // of the last polled correction
  std::vector<reckoner_prediction_step> steps;       // of the last polled correction
  mutable reckoner::CallError call_error{};          // of the last call
};
