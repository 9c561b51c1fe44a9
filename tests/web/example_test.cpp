// SPDX-License-Identifier: MIT
#include "tests/programs/process.hpp"
#include "web_world.hpp"

#include <csignal>
#include <cstdlib>

namespace reckoner::test {
namespace {

std::uint16_t port_after(const std::string& text, const std::string& words) {
  const std::size_t at = text.find(words);
  return at == std::string::npos ? std::uint16_t{0}
                                 : static_cast<std::uint16_t>(std::atoi(text.c_str() + at + words.size()));
}

// The example that docs/INTEGRATION.md quotes: a native player and a browser see each other's car.
TEST(WebServerExample, NativePlayersAndBrowsersJoinIt) {
  if (loopback() != "127.0.0.1") GTEST_SKIP() << "the example listens on 127.0.0.1";
  Process example(RECKONER_WEB_EXAMPLE, {"0", "0", "30"});
  ASSERT_TRUE(example.wait_for("browsers: ws://")) << example.errors();
  const std::string said = example.output();
  const std::uint16_t web = port_after(said, "ws://127.0.0.1:");
  const std::uint16_t udp = port_after(said, "native players: 127.0.0.1:");
  ASSERT_NE(web, 0) << said;
  ASSERT_NE(udp, 0) << said;
  NativePlayer native(udp, Insecure{});
  Browser browser(web);
  std::size_t both_show = 0;
  for (const double until_s = machine_s() + 5.0; machine_s() < until_s && both_show < 2;) {
    native.transport->wait(0.005);
    native.client.update(machine_s());
    browser.update(machine_s());
    both_show = std::min(native.client.shown().size(), browser.client().shown().size());
  }
  EXPECT_EQ(both_show, 2u) << native.client.refusal() << browser.client().refusal();
  EXPECT_TRUE(example.wait_for("browser player joined"));
  EXPECT_TRUE(example.wait_for("native player joined"));
  example.send_signal(SIGTERM);
}

}  // namespace
}  // namespace reckoner::test
