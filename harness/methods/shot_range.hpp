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

/// Fires shots for a client and measures lag compensation. For each shot, the server reconstructs what the
/// client saw when it fired. ShotRange compares the result with the poses that were really drawn. It makes
/// the same comparison for every picture, half a second after the picture was drawn.
class ShotRange {
 public:
  ShotRange(double shots_per_second, double start_s)
      : shots_per_second_(shots_per_second), start_s_(start_s) {}

  /// Call this when the client has joined.
  void joined(ClientId client) { client_ = client; }

  /// Call this after the client has drawn a picture at `time_s`, which is `local_s` by the client's clock.
  void drawn(Client& client, double local_s, double time_s, std::span<const ShownEntity> shown);

  /// Call this when the server may have received something at `time_s`.
  void observe(Server& server, double time_s);

  [[nodiscard]] RewindFigures figures() const;

 private:
  struct Drawn {
    EntityId id;
    glm::dvec3 position;
  };
  struct Frame {
    std::uint32_t number = 0;
    double time_s = 0.0;
    double client_s = 0.0;  // time of the picture by the client's estimate of server time
    std::vector<Drawn> drawn;
  };

  void compare(Server& server, const Frame& frame, std::vector<double>& errors_m);
  [[nodiscard]] bool counts(EntityId id, double time_s);

  double shots_per_second_;
  double start_s_;
  ClientId client_;
  std::uint32_t next_number_ = 0;
  double fired_ = 0.0;  // number of shots that were due so far
  std::deque<Frame> frames_;
  std::vector<std::pair<EntityId, double>> first_s_;  // when each entity was first drawn
  std::vector<double> errors_m_;
  std::vector<double> late_errors_m_;
  std::uint64_t shots_ = 0;
  std::uint64_t poses_ = 0;
  std::uint64_t unknown_ = 0;
};

}  // namespace reckoner::harness
