// SPDX-License-Identifier: MIT
#pragma once

#include "harness/metrics/figures.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/client/client.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::harness {

/// Fires shots on behalf of a client, and has the server look into what the client saw when it fired: what
/// that comes to, against what was really drawn. Every frame is looked into once more half a second later.
class ShotRange {
 public:
  ShotRange(double shots_per_second, double start_s)
      : shots_per_second_(shots_per_second), start_s_(start_s) {}

  /// The client has joined.
  void joined(ClientId client) { client_ = client; }

  /// The client has drawn a frame at `time_s`, its local time `local_s`.
  void drawn(Client& client, double local_s, double time_s, std::span<const ShownEntity> shown);

  /// The server may have received something at `time_s`.
  void look(Server& server, double time_s);

  [[nodiscard]] SeenFigures figures() const;

 private:
  struct Drawn {
    EntityId id;
    glm::dvec3 position;
  };
  struct Frame {
    std::uint32_t number = 0;
    double time_s = 0.0;
    double client_s = 0.0;  // by the client's clock
    std::vector<Drawn> drawn;
  };

  void compare(Server& server, const Frame& frame, std::vector<double>& errors_m);
  [[nodiscard]] bool counts(EntityId id, double time_s);

  double shots_per_second_;
  double start_s_;
  ClientId client_;
  std::uint32_t next_number_ = 0;
  double fired_ = 0.0;  // shots that were due so far
  std::deque<Frame> frames_;
  std::vector<std::pair<EntityId, double>> first_s_;  // when each entity was drawn first
  std::vector<double> errors_m_;
  std::vector<double> late_errors_m_;
  std::uint64_t shots_ = 0;
  std::uint64_t poses_ = 0;
  std::uint64_t unknown_ = 0;
};

}  // namespace reckoner::harness
