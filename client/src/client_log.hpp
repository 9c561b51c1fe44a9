// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/transport/refusal_log.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <reckoner/client/client.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/net/log.hpp>

namespace reckoner {

/// Writes the client's log lines to ClientConfig::log. Costs nothing if no sink is set.
class ClientLog {
 public:
  explicit ClientLog(LogSink sink) : sink_(std::move(sink)) {}

  /// `first` is false if the session replaces one that the server no longer knows.
  void joined(ClientId client, bool first) const {
    say(sink_, first ? LogLevel::info : LogLevel::warning,
        first ? "joined" : "joined again with a new session", {{"client", std::uint64_t{client.value}}});
  }
  void lost(const std::string& why) const {
    say(sink_, LogLevel::warning, "connection lost", {{"reason", std::string_view(why)}});
  }
  /// The client tries another server because no server has accepted it yet.
  void goes_elsewhere(const std::string& why) const {
    say(sink_, LogLevel::warning, "trying the next server", {{"reason", std::string_view(why)}});
  }
  void resumed(ClientId client) const {
    say(sink_, LogLevel::info, "resumed", {{"client", std::uint64_t{client.value}}});
  }
  void ended(bool refused, bool leaving, const std::string& why) const {
    const std::string_view event = refused ? "refused" : leaving ? "left" : "disconnected";
    say(sink_, leaving && !refused ? LogLevel::info : LogLevel::warning, event,
        {{"reason", std::string_view(why)}});
  }
  /// The game's clock does not run at the rate of the server's; or it does again, and `rate` is 1.
  void clock_rate(double rate) const {
    say(sink_, LogLevel::warning, "clock rate corrected", {{"rate", rate}});
  }
  /// Somebody has set the game's clock forward. What is shown did not follow it.
  void clock_set(double by_s) const { say(sink_, LogLevel::warning, "the clock was set", {{"by_s", by_s}}); }
  /// Once a second, logs the refused payloads since the last time.
  void review(const ClientStats& stats, double local_s) {
    if (sink_ && refusals_.due(local_s)) refusals_.say(sink_, "server payloads refused", stats.refusals);
  }

 private:
  LogSink sink_;
  RefusalLog refusals_;
};

}  // namespace reckoner
