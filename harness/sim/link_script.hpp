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

/// Changes of a link at given times, read from a text. Each line is one change. The lines must be in the
/// order of time:
///
///     # time_s [up|down] network=NAME | option=value ...
///     10    network=mobile
///     12.5  down loss=20 burst=4
///     20    latency-ms=30 jitter-ms=5 loss=0
///
/// Options have the names of the command line: latency-ms, jitter-ms, loss, burst, duplicate, rate-kbps,
/// queue-ms. A line leaves the options that it does not name unchanged. It changes both directions if it
/// contains neither `up` nor `down`. A '#' starts a comment. Times are in seconds from the start of the run.
class LinkScript {
 public:
  /// Creates a script without changes.
  LinkScript() = default;

  /// Parses a script. The error names the line.
  [[nodiscard]] static Result<LinkScript> parse(std::string_view text);

  /// Reads and parses the file at `path`. The error names the file.
  [[nodiscard]] static Result<LinkScript> load(const std::string& path);

  /// Applies all changes that are due by `time_s` (seconds from the start of the run) and were not applied
  /// before. Returns true if it applied any change.
  bool advance(double time_s, LinkPair& links);

  /// Time of the next change in seconds from the start of the run. Infinity if there is none.
  [[nodiscard]] double next_s() const;

  [[nodiscard]] bool empty() const { return changes_.empty(); }

 private:
  struct Change {
    double time_s = 0.0;
    bool up = true;
    bool down = true;
    std::string name;  ///< name of the network if `network` is true, otherwise of the option
    double value = 0.0;
    bool network = false;
  };
  static std::optional<Error> parse_line(std::string_view line, std::vector<Change>& changes);

  std::vector<Change> changes_;
  std::size_t next_ = 0;
};

}  // namespace reckoner::harness
