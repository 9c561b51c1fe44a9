// SPDX-License-Identifier: MIT
// The effect of reckoner-server's options: every limit of the libraries has an option, and the option sets
// that limit.
#include "programs/server/options.hpp"

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

namespace reckoner::program {
namespace {

std::string parsed(ServerOptions& options, std::vector<std::string> arguments) {
  CLI::App app{"", "server"};
  add_server_options(app, options);
  std::vector<const char*> argv{"server"};
  for (const std::string& argument : arguments)
    argv.push_back(argument.c_str());
  try {
    app.parse(static_cast<int>(argv.size()), argv.data());
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return {};
}

// All numbers of the struct, in their order.
std::vector<double> values(const ServerOptions& o) {
  const auto& [datagrams, bytes, address_datagrams, address_bytes, burst, message, waiting, backlog, events,
               event_bytes, silence] = o.limits;
  const ServerSecurity& s = o.security.limits;
  return {datagrams,
          bytes,
          address_datagrams,
          address_bytes,
          burst,
          static_cast<double>(message),
          static_cast<double>(waiting),
          static_cast<double>(backlog),
          static_cast<double>(events),
          static_cast<double>(event_bytes),
          silence,
          static_cast<double>(s.peers_per_address),
          s.handshakes_per_second,
          s.tokens_per_second,
          static_cast<double>(s.sessions_per_client),
          static_cast<double>(s.used_tokens),
          static_cast<double>(s.used_tokens_per_client),
          s.ticket_s,
          s.half_open_s};
}

const std::vector<std::string> kNames{"datagrams-per-second",
                                      "bytes-per-second",
                                      "address-datagrams-per-second",
                                      "address-bytes-per-second",
                                      "burst-s",
                                      "message-bytes",
                                      "waiting-bytes",
                                      "backlog-bytes",
                                      "waiting-events",
                                      "waiting-event-bytes",
                                      "silence-s",
                                      "peers-per-address",
                                      "handshakes-per-second",
                                      "tokens-per-second",
                                      "sessions-per-client",
                                      "used-tokens",
                                      "used-tokens-per-client",
                                      "ticket-s",
                                      "half-open-s"};

TEST(ServerOptions, EveryLimitHasItsOwnOption) {
  const std::vector<double> defaults = values({});
  ASSERT_EQ(defaults.size(), kNames.size());
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    ServerOptions options;
    const double wanted = defaults[i] - 1.0;
    const auto text = std::to_string(static_cast<std::int64_t>(wanted));
    EXPECT_EQ(parsed(options, {"--limits." + kNames[i], text}), "");
    const std::vector<double> got = values(options);
    for (std::size_t k = 0; k < got.size(); ++k)
      EXPECT_EQ(got[k], k == i ? wanted : defaults[k]) << kNames[i] << " changed " << kNames[k];
  }
}

TEST(ServerOptions, LimitsAreWithinTheirRanges) {
  for (const std::string& name : kNames) {
    for (const char* value : {"-1", "1e30", "1e12", "many"}) {
      ServerOptions options;
      const std::string wrong = parsed(options, {"--limits." + name, value});
      EXPECT_NE(wrong.find("--limits." + name), std::string::npos) << name << " " << value << ": " << wrong;
    }
  }
}

}  // namespace
}  // namespace reckoner::program
