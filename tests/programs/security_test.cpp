// SPDX-License-Identifier: MIT
// Keys and tokens as an operator handles them.
#include "process.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

struct Keys {
  ScratchDir dir;
  std::string key = dir.file("game.key");
  std::string port = free_udp_port();

  Keys() { EXPECT_EQ(run("reckoner-token", {"key", key}).exit_code, 0); }
  std::string token(const std::string& name, const std::string& to_port, const std::string& seconds = "60") {
    const std::string path = dir.file(name);
    const Finished issued = run("reckoner-token", {"issue", path, "--key", key, "--server",
                                                   "127.0.0.1:" + to_port, "--seconds", seconds});
    EXPECT_EQ(issued.exit_code, 0) << issued.errors;
    return path;
  }
};

TEST(Security, WhoHasATokenJoinsAndNobodyElse) {
  Keys keys;
  Process server("reckoner-server",
                 {"--scenario", "crowd", "--entities", "5", "--port", keys.port, "--key", keys.key});
  const std::string address = "127.0.0.1:" + keys.port;
  const std::string token = keys.token("alice.token", keys.port);
  const Finished alice =
      run("reckoner-client", {"--connect", address, "--token", token, "--seconds", "1.5"}, 60.0);
  EXPECT_EQ(alice.exit_code, 0) << alice.errors;
  EXPECT_NE(alice.output.find("joined"), std::string::npos) << alice.output;
  const Finished again =
      run("reckoner-client", {"--connect", address, "--token", token, "--seconds", "9"}, 60.0);
  EXPECT_EQ(again.exit_code, 1) << "a token is good once";
  const Finished open = run("reckoner-client", {"--connect", address, "--insecure", "--seconds", "9"}, 60.0);
  EXPECT_EQ(open.exit_code, 1);
  server.send_signal(SIGTERM);
  EXPECT_EQ(server.wait(30.0), 0) << server.errors();
  EXPECT_EQ(server.errors().find("insecure"), std::string::npos) << server.errors();
}

TEST(Security, InsecureMustBeAskedForByNameAndIsSaidAloud) {
  const Finished server = run("reckoner-server", {"--scenario", "orbit", "--port", free_udp_port()});
  EXPECT_EQ(server.exit_code, 2);
  EXPECT_NE(server.errors.find("--insecure"), std::string::npos) << server.errors;
  const Finished client = run("reckoner-client", {"--connect", "127.0.0.1:1"});
  EXPECT_EQ(client.exit_code, 2);
  EXPECT_NE(client.errors.find("--token"), std::string::npos) << client.errors;
  const Finished asked = run("reckoner-server", {"--scenario", "orbit", "--port", free_udp_port(),
                                                 "--insecure", "--seconds", "0.1", "--quiet"});
  EXPECT_EQ(asked.exit_code, 0);
  EXPECT_NE(asked.errors.find("insecure"), std::string::npos) << asked.errors;
}

TEST(Security, SecretFilesAreTheirOwnersAndNeverWrittenOver) {
  Keys keys;
  namespace fs = std::filesystem;
  EXPECT_EQ(fs::status(keys.key).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  const Finished again = run("reckoner-token", {"key", keys.key});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_NE(again.errors.find(keys.key), std::string::npos) << again.errors;
}

TEST(Security, FilesThatHoldNoneAreRefused) {
  Keys keys;
  const std::string token = keys.token("a.token", keys.port);
  const Finished server = run("reckoner-server", {"--scenario", "orbit", "--key", token});
  EXPECT_EQ(server.exit_code, 2);
  EXPECT_NE(server.errors.find("no key"), std::string::npos) << server.errors;
  const Finished client = run("reckoner-client", {"--connect", "127.0.0.1:1", "--token", keys.key});
  EXPECT_EQ(client.exit_code, 2);
  EXPECT_NE(client.errors.find("no token"), std::string::npos) << client.errors;
  const Finished both = run("reckoner-server", {"--scenario", "orbit", "--key", keys.key, "--insecure"});
  EXPECT_EQ(both.exit_code, 2);
  for (const auto* bad : {"nowhere", "127.0.0.1:0", "256.1.1.1:5"}) {
    const Finished issued =
        run("reckoner-token", {"issue", keys.dir.file("b.token"), "--key", keys.key, "--server", bad});
    EXPECT_EQ(issued.exit_code, 2) << bad;
  }
}

}  // namespace
}  // namespace reckoner::test
