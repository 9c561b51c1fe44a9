// SPDX-License-Identifier: MIT
#pragma once

#include "harness/sim/link.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// The two directions between a client and the server.
struct LinkPair {
  LinkOptions up;    ///< client to server
  LinkOptions down;  ///< server to client
};

/// Changes of a link at given times, read from text. One change a line, times not decreasing:
///
///     # time_s [up|down] network=NAME | option=value ...
///     10    network=mobile
///     12.5  down loss=20 burst=4
///     20    latency-ms=30 jitter-ms=5 loss=0
///
/// Options have the names of the command line: latency-ms, jitter-ms, loss, burst, duplicate, rate-kbps,
/// queue-ms. What a line does not name stays as it was; without up or down both directions change. A '#'
/// starts a comment. Times count from the start of the run.
class LinkScript {
 public:
  /// A script that changes nothing.
  LinkScript() = default;

  /// Reads a script; an error names the line.
  [[nodiscard]] static Result<LinkScript> parse(std::string_view text);

  /// Reads a script from a file.
  [[nodiscard]] static Result<LinkScript> load(const std::string& path);

  /// Applies every change that is due by `time_s` and was not applied before. True if there was one.
  bool advance(double time_s, LinkPair& links);

  /// When the next change is due, or infinity.
  [[nodiscard]] double next_s() const;

  [[nodiscard]] bool empty() const { return changes_.empty(); }

 private:
  struct Change {
    double time_s = 0.0;
    bool up = true;
    bool down = true;
    std::string name;  ///< of the option, or of the network when `network`
    double value = 0.0;
    bool network = false;
  };
  static std::optional<Error> parse_line(std::string_view line, std::vector<Change>& changes);

  std::vector<Change> changes_;
  std::size_t next_ = 0;
};

}  // namespace reckoner::harness
