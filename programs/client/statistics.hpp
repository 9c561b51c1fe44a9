// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <reckoner/client/client.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner::program {

/// Computes statistics of a session, as one line of text per second.
class LiveStatistics {
 public:
  /// Call this after each picture. Records the size of every correction that began in this picture.
  void note_picture(const Client& client, std::span<const ShownEntity> shown);

  /// The line for the time since the last line. Nullopt if the last line is less than a second old, and at
  /// the first call.
  [[nodiscard]] std::optional<std::string> line(const Client& client, const TransportStats& wire,
                                                double local_s);

 private:
  struct Seen {
    double local_s = 0.0;
    std::optional<double> clock_s;  // server time minus local time
    ClientStats client;
    TransportStats wire;
  };
  double started_s_ = 0.0;
  std::optional<Seen> last_;
  std::size_t entities_ = 0;
  std::map<EntityId, double> motions_s_;  // for each entity: time stamp of the motion that was last shown
  std::vector<double> corrections_m_;     // corrections since the last line
};

}  // namespace reckoner::program
