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

/// Statistics of a session, one line per second.
class LiveStatistics {
 public:
  /// Records the size of each correction that began with the frame that the client has just shown.
  void note_frame(const Client& client, std::span<const ShownEntity> shown);

  /// The line for the time since the last one. Nullopt if that was less than a second ago, and the first
  /// time.
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
  std::map<EntityId, double> motions_s_;  // time stamp of the shown motion
  std::vector<double> corrections_m_;     // since the last line
};

}  // namespace reckoner::program
