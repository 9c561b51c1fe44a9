// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/testing/test_switches.hpp"
#include "harness/replay/client_clock.hpp"
#include "harness/replay/method.hpp"
#include "scenario/source.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <reckoner/client/client.hpp>

namespace reckoner::harness {

/// The client whose frames a replay measures, and the clock of its machine. All times are server time, s.
class Viewer {
 public:
  /// `transport` must outlive the viewer. `source` is used only during construction. The run begins at
  /// `start_s`.
  Viewer(const scenario::Source& source, ClientConfig config, Transport& transport, ClientClock clock,
         double start_s, const ClientTestSwitches& switches = {});

  [[nodiscard]] Client& client() { return client_; }
  [[nodiscard]] double local_s(double time_s) const { return clock_.at(time_s, start_s_); }

  void update(double time_s) { client_.update(local_s(time_s)); }

  /// Updates the client, draws a picture and appends the poses of the source's entities to `shown`, sorted by
  /// entity. Returns everything that the client drew.
  std::span<const ShownEntity> frame(double time_s, std::vector<ShownPose>& shown);

  [[nodiscard]] double delay_s() const { return client_.stats().delay_s; }
  /// The client's estimate of server time minus the true server time `time_s`, that of the last update(), s.
  /// Returns nullopt before the client has an estimate.
  [[nodiscard]] std::optional<double> clock_error_s(double time_s) const;

  /// Why the client does not show the source's entities, if the client knows it; else empty.
  [[nodiscard]] std::string hidden_reason() const;

 private:
  Client client_;
  ClientClock clock_;
  double start_s_;
  std::unordered_map<std::string, std::size_t> indices_;  // indices of the source's entities by name
  std::string stranger_;  // name of a shown entity that the source does not have; empty if there was none
};

}  // namespace reckoner::harness
