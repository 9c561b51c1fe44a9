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

/// How a session goes, in a line a second.
class LiveStatistics {
 public:
  /// What the client has just shown, at `local_s`: notes which corrections that began with it, and how large.
  void note_frame(const Client& client, std::span<const ShownEntity> shown);

  /// What happened since the last line, if that was a second ago or longer; the first time nothing.
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
  std::map<EntityId, double> motions_s_;  // time stamp of the motion that was shown
  std::vector<double> corrections_m_;     // since the last line
};

}  // namespace reckoner::program
