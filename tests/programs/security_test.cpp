// SPDX-License-Identifier: MIT
// Keys and tokens as an operator uses them.
#include "process.hpp"
#include "tests/support/loopback.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

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
                                                   loopback_address(to_port), "--seconds", seconds});
    EXPECT_EQ(issued.exit_code, 0) << issued.errors;
    return path;
  }
};

TEST(Security, OnlyClientsWithATokenJoin) {
  Keys keys;
  Process server("reckoner-server",
                 {"--scenario", "crowd", "--entities", "5", "--port", keys.port, "--key", keys.key});
  const std::string address = loopback_address(keys.port);
  const std::string token = keys.token("alice.token", keys.port);
  const Finished alice =
      run("reckoner-client", {"--connect", address, "--token", token, "--seconds", "1.5"}, 60.0);
  EXPECT_EQ(alice.exit_code, 0) << alice.errors;
  EXPECT_NE(alice.output.find("joined"), std::string::npos) << alice.output;
  const Finished again =
      run("reckoner-client", {"--connect", address, "--token", token, "--seconds", "9"}, 60.0);
  EXPECT_EQ(again.exit_code, 1) << "a token is good once";
  const Finished open = run(
      "reckoner-client", {"--connect", address, "--insecure", "--transport", "udp", "--seconds", "9"}, 60.0);
  EXPECT_EQ(open.exit_code, 1);
  server.send_signal(SIGTERM);
  EXPECT_EQ(server.wait(30.0), 0) << server.errors();
  EXPECT_EQ(server.errors().find("insecure"), std::string::npos) << server.errors();
  const std::string output = server.output();
  const std::size_t closing = output.find("refused: ");
  ASSERT_NE(closing, std::string::npos) << output;
  EXPECT_NE(output.find("token_reused", closing), std::string::npos) << "each reason has its name\n"
                                                                     << output;
  EXPECT_EQ(output.find("malformed payloads"), std::string::npos) << output;
}

// Checks whether a token for a given address admits a client at a server with the same key at 127.0.0.1.
struct NamedServer {
  Keys keys;
  std::size_t issued = 0;

  Finished join(const std::string& token_for, const std::vector<std::string>& with,
                const std::string& seconds = "1.5") {
    std::vector<std::string> options{"--scenario", "crowd",   "--entities", "2",
                                     "--port",     keys.port, "--key",      keys.key};
    options.insert(options.end(), with.begin(), with.end());
    Process server("reckoner-server", options);
    EXPECT_TRUE(server.wait_for("listening on port")) << server.errors();
    const std::string token = keys.dir.file(std::to_string(++issued) + ".token");
    EXPECT_EQ(run("reckoner-token", {"issue", token, "--key", keys.key, "--server", token_for}).exit_code, 0);
    const Finished client =
        run("reckoner-client",
            {"--connect", loopback_address(keys.port), "--token", token, "--seconds", seconds}, 60.0);
    server.send_signal(SIGTERM);
    EXPECT_EQ(server.wait(30.0), 0) << server.errors();
    said = server.errors() + server.output();
    return client;
  }
  std::string said;  // the server's output
};

// Two servers share a key. Each refuses a token for the other server.
TEST(Security, TokenIsValidForTheServersItNames) {
  NamedServer named;
  const std::string here = loopback_address(named.keys.port), elsewhere = "10.9.9.9:1";
  EXPECT_EQ(named.join(here, {}).exit_code, 0) << "an address of this machine needs no option";
  EXPECT_NE(named.said.find("tokens must name"), std::string::npos) << named.said;
  const Finished refused = named.join(elsewhere, {}, "9");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.errors.find("only tokens that name its address"), std::string::npos) << refused.errors;
  EXPECT_NE(named.said.find("wrong_token"), std::string::npos) << named.said;
  EXPECT_EQ(named.join("127.0.0.1:1", {}, "9").exit_code, 1) << "the port counts";
  EXPECT_EQ(named.join(here, {"--host", loopback()}).exit_code, 0);
  EXPECT_EQ(named.join(elsewhere, {"--host", loopback()}, "9").exit_code, 1);
}

// Behind a NAT or a relay, clients know a server by addresses that the server itself cannot know.
TEST(Security, ServerAddressesCanBeConfigured) {
  NamedServer named;
  const std::string here = loopback_address(named.keys.port), elsewhere = "10.9.9.9:1";
  EXPECT_EQ(named.join(elsewhere, {"--address", elsewhere}).exit_code, 0);
  EXPECT_EQ(named.join(here, {"--address", elsewhere}, "9").exit_code, 1);
  EXPECT_EQ(named.join(here, {"--address", elsewhere, "--address", loopback()}).exit_code, 0);
  EXPECT_EQ(named.join(elsewhere, {"--address", "any"}).exit_code, 0);
  EXPECT_NE(named.said.find("any server"), std::string::npos) << "must be logged: " << named.said;
  const auto refused = [&](const std::vector<std::string>& addresses) {
    std::vector<std::string> options{"--scenario", "orbit", "--key", named.keys.key, "--address"};
    options.insert(options.end(), addresses.begin(), addresses.end());
    const Finished server = run("reckoner-server", options);
    EXPECT_EQ(server.exit_code, 2) << server.errors;
    EXPECT_NE(server.errors.find("--address"), std::string::npos) << server.errors;
  };
  refused({"any", "127.0.0.1"});
  refused({"no-such-host.invalid"});
  refused({"127.0.0.1:0"});
  refused({"127.0.0.1:70000"});
  for (const char* nobody :
       {"0.0.0.0", "0.0.0.0:26000", "[::]:26000", "[ff02::1]:26000", "224.0.0.1", "255.255.255.255:26000"})
    refused({nobody});
}

TEST(Security, TokensNameOnlyAddressesOfHosts) {
  Keys keys;
  for (const char* nobody : {"0.0.0.0:26000", "[::]:26000", "[ff02::1]:26000", "224.0.0.1:26000",
                             "255.255.255.255:26000", "127.0.0.1:0", "[::1]:0", "127.0.0.1"}) {
    const std::string path = keys.dir.file("nobody.token");
    const Finished issued =
        run("reckoner-token", {"issue", path, "--key", keys.key, "--server", "127.0.0.1:26000", nobody});
    EXPECT_EQ(issued.exit_code, 2) << nobody;
    EXPECT_FALSE(issued.errors.empty());
    EXPECT_FALSE(std::filesystem::exists(path)) << nobody;
  }
}

// Without a host, a client tries the servers of its token in turn. It also goes on after a server that does
// not answer. Real programs wait five seconds for an answer; several_servers_test.cpp has this in virtual
// time.
TEST(Security, ClientTriesTheServersOfItsTokenInTurn) {
  Keys keys;
  const UdpSocket nobody;  // owns the port but answers nothing
  const std::string dead = loopback_address(std::to_string(nobody.port()));
  Process server("reckoner-server",
                 {"--scenario", "crowd", "--entities", "2", "--port", keys.port, "--key", keys.key});
  ASSERT_TRUE(server.wait_for("listening on port")) << server.errors();
  const auto token = [&](const std::string& name, const std::vector<std::string>& servers) {
    std::vector<std::string> options{"issue", keys.dir.file(name), "--key", keys.key};
    for (const std::string& one : servers)
      options.insert(options.end(), {"--server", one});
    EXPECT_EQ(run("reckoner-token", options).exit_code, 0);
    return keys.dir.file(name);
  };
  const std::string alive = loopback_address(keys.port);
  const Finished through =
      run("reckoner-client", {"--token", token("a", {dead, alive}), "--seconds", "9"}, 60.0);
  EXPECT_EQ(through.exit_code, 0) << through.errors;
  EXPECT_NE(through.output.find("joined"), std::string::npos) << through.output;
  const Finished named = run(
      "reckoner-client", {"--token", token("b", {dead, alive}), "--connect", alive, "--seconds", "2"}, 60.0);
  EXPECT_EQ(named.exit_code, 0) << "at once, as the command line wins: " << named.errors;
  const Finished nowhere = run("reckoner-client", {"--token", token("c", {dead, dead})}, 60.0);
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_NE(nowhere.errors.find("does not answer"), std::string::npos) << nowhere.errors;
  for (const std::vector<std::string>& no_place :
       {std::vector<std::string>{"--insecure", "--transport", "udp"},
        {},
        {"--token", token("d", {alive}), "--record", "x.log"}}) {
    const Finished asked = run("reckoner-client", no_place);
    EXPECT_EQ(asked.exit_code, 2) << asked.output;
    EXPECT_NE(asked.errors.find("--connect"), std::string::npos) << asked.errors;
  }
}

// A configured limit takes effect.
TEST(Security, ConfiguredLimitsTakeEffect) {
  NamedServer named;
  const std::string path = named.keys.dir.file("server.toml");
  std::ofstream(path) << "[limits]\nwaiting-events = 64\ndatagrams-per-second = 20.0\nburst-s = 0.1\n";
  const std::string here = loopback_address(named.keys.port);
  (void)named.join(here, {"--config", path}, "4");
  EXPECT_NE(named.said.find("peer_limit"), std::string::npos) << "its client sends more: " << named.said;
  EXPECT_EQ(named.join(here, {}, "4").exit_code, 0);
  EXPECT_EQ(named.said.find("peer_limit"), std::string::npos) << named.said;
}

TEST(Security, InsecureModeMustBeRequestedAndIsLogged) {
  const Finished server = run("reckoner-server", {"--scenario", "orbit", "--port", free_udp_port()});
  EXPECT_EQ(server.exit_code, 2);
  EXPECT_NE(server.errors.find("--insecure"), std::string::npos) << server.errors;
  const Finished client = run("reckoner-client", {"--connect", "127.0.0.1:1"});
  EXPECT_EQ(client.exit_code, 2);
  EXPECT_NE(client.errors.find("--token"), std::string::npos) << client.errors;
  const Finished asked =
      run("reckoner-server", {"--scenario", "orbit", "--port", free_udp_port(), "--insecure", "--transport",
                              "udp", "--seconds", "0.1", "--quiet"});
  EXPECT_EQ(asked.exit_code, 0);
  EXPECT_NE(asked.errors.find("insecure"), std::string::npos) << asked.errors;
}

TEST(Security, SecretFilesAreOwnerOnlyAndNeverOverwritten) {
  Keys keys;
  namespace fs = std::filesystem;
  EXPECT_EQ(fs::status(keys.key).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  const Finished again = run("reckoner-token", {"key", keys.key});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_NE(again.errors.find(keys.key), std::string::npos) << again.errors;
}

TEST(Security, FilesWithoutAKeyOrTokenAreRefused) {
  Keys keys;
  const std::string token = keys.token("a.token", keys.port);
  const Finished server = run("reckoner-server", {"--scenario", "orbit", "--key", token});
  EXPECT_EQ(server.exit_code, 2);
  EXPECT_NE(server.errors.find("no key"), std::string::npos) << server.errors;
  const Finished client = run("reckoner-client", {"--connect", "127.0.0.1:1", "--token", keys.key});
  EXPECT_EQ(client.exit_code, 2);
  EXPECT_NE(client.errors.find("no token"), std::string::npos) << client.errors;
  const Finished both =
      run("reckoner-server", {"--scenario", "orbit", "--key", keys.key, "--insecure", "--transport", "udp"});
  EXPECT_EQ(both.exit_code, 2);
  for (const auto* bad : {"nowhere", "127.0.0.1:0", "256.1.1.1:5"}) {
    const Finished issued =
        run("reckoner-token", {"issue", keys.dir.file("b.token"), "--key", keys.key, "--server", bad});
    EXPECT_EQ(issued.exit_code, 2) << bad;
  }
}

// The same player starts the game again with a new token. The first client gets the reason and ends. Other
// players' clients continue.
TEST(Security, NewerLoginReplacesTheOlderOne) {
  Keys keys;
  Process server("reckoner-server",
                 {"--scenario", "crowd", "--entities", "5", "--port", keys.port, "--key", keys.key});
  ASSERT_TRUE(server.wait_for("listening", 30.0));
  const auto joining = [&](const std::string& name, const std::vector<std::string>& more) {
    const std::string path = keys.dir.file(name);
    std::vector<std::string> issue = {"issue",  path,       "--key",
                                      keys.key, "--server", loopback_address(keys.port)};
    issue.insert(issue.end(), more.begin(), more.end());
    EXPECT_EQ(run("reckoner-token", issue).exit_code, 0);
    return std::vector<std::string>{"--connect", loopback_address(keys.port), "--token", path, "--reconnect",
                                    "100"};
  };
  Process other("reckoner-client", joining("other.token", {}));
  Process first("reckoner-client", joining("first.token", {"--client-id", "7"}));
  for (Process* client : {&other, &first})
    ASSERT_TRUE(client->wait_for("joined", 30.0)) << client->errors();
  Process second("reckoner-client", joining("second.token", {"--client-id", "7"}));
  ASSERT_TRUE(second.wait_for("joined", 30.0)) << second.errors();
  EXPECT_EQ(first.wait(30.0), 1);
  EXPECT_NE(first.errors().find("joined from elsewhere"), std::string::npos) << first.errors();
  EXPECT_TRUE(server.wait_for("peer replaced", 30.0)) << server.errors();
  for (Process* client : {&other, &second}) {
    client->send_signal(SIGTERM);
    EXPECT_EQ(client->wait(30.0), 0) << client->errors();
    EXPECT_EQ(client->output().find("trying to reconnect"), std::string::npos);
  }
}

}  // namespace
}  // namespace reckoner::test
