// SPDX-License-Identifier: MIT
// The real programs under faults: processes that end or are suspended, and full disks.
#include "pose_table.hpp"
#include "process.hpp"
#include "tests/support/loopback.hpp"
#include "tests/support/sanitizer.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr double kTimeoutS = 60.0;  // generous, because the machine may be busy

void pause_for(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

struct FaultKeys {
  ScratchDir dir;
  std::string key = dir.file("game.key");
  std::string port = free_udp_port();
  std::string address = loopback_address(port);

  FaultKeys() { EXPECT_EQ(run("reckoner-token", {"key", key}).exit_code, 0); }
  std::string token(const std::string& name) {
    const std::string path = dir.file(name);
    const Finished issued =
        run("reckoner-token", {"issue", path, "--key", key, "--server", address, "--seconds", "100"});
    EXPECT_EQ(issued.exit_code, 0) << issued.errors;
    return path;
  }
  [[nodiscard]] std::vector<std::string> serving() const {
    return {"--scenario", "crowd", "--entities", "5", "--port", port, "--key", key};
  }
};

// A secure server is killed and restarted: both clients reconnect with their tickets. A killed client
// disturbs no other. A client whose machine sleeps longer than the server waits also reconnects.
TEST(Faults, ClientsReconnectAfterProcessesDieOrSleep) {
  FaultKeys keys;
  const auto joining = [&](const std::string& name) {
    return std::vector<std::string>{"--connect",      keys.address,  "--token",
                                    keys.token(name), "--reconnect", "100"};
  };
  auto server = std::make_unique<Process>("reckoner-server", keys.serving());
  ASSERT_TRUE(server->wait_for("listening", kTimeoutS));
  Process alice("reckoner-client", joining("alice.token"));
  Process bob("reckoner-client", joining("bob.token"));
  Process carol("reckoner-client", joining("carol.token"));
  for (Process* client : {&alice, &bob, &carol})
    ASSERT_TRUE(client->wait_for("joined", kTimeoutS)) << client->errors();
  carol.send_signal(SIGKILL);
  server->send_signal(SIGKILL);
  EXPECT_TRUE(server->wait(kTimeoutS));
  server = std::make_unique<Process>("reckoner-server", keys.serving());
  for (Process* client : {&alice, &bob}) {
    EXPECT_TRUE(client->wait_for("trying to reconnect", kTimeoutS));
    EXPECT_TRUE(client->wait_for("joined a new session", kTimeoutS)) << client->errors();
  }
  EXPECT_TRUE(server->wait_for("listening", kTimeoutS));
  bob.send_signal(SIGSTOP);
  EXPECT_TRUE(server->wait_for("client lost", kTimeoutS)) << server->errors();
  bob.send_signal(SIGCONT);
  EXPECT_TRUE(bob.wait_for("resumed", kTimeoutS)) << bob.errors();
  EXPECT_TRUE(server->wait_for("client resumed", kTimeoutS)) << server->errors();
  for (Process* client : {&alice, &bob}) {
    client->send_signal(SIGTERM);
    EXPECT_EQ(client->wait(kTimeoutS), 0) << client->errors();
  }
  server->send_signal(SIGTERM);
  EXPECT_EQ(server->wait(kTimeoutS), 0) << server->errors();
  EXPECT_EQ(alice.output().find("resumed"), std::string::npos) << "no reconnect in the second run";
}

// A server whose machine sleeps for less than the timeouts continues without a reconnect.
TEST(Faults, ServerThatStopsForAMomentContinues) {
  const ScratchDir dir;
  const std::string port = free_udp_port();
  Process server("reckoner-server", {"--insecure", "--scenario", "orbit", "--port", port, "--truth",
                                     dir.file("truth.csv"), "--seconds", "100"});
  ASSERT_TRUE(server.wait_for("listening", kTimeoutS));
  Process client("reckoner-client", {"--insecure", "--connect", loopback_address(port)});
  ASSERT_TRUE(client.wait_for("joined", kTimeoutS));
  server.send_signal(SIGSTOP);
  pause_for(1.5);
  server.send_signal(SIGCONT);
  pause_for(1.0);
  client.send_signal(SIGTERM);
  EXPECT_EQ(client.wait(kTimeoutS), 0) << client.errors();
  EXPECT_EQ(client.errors().find("trying to reconnect"), std::string::npos) << client.errors();
  server.send_signal(SIGTERM);
  EXPECT_EQ(server.wait(kTimeoutS), 0) << server.errors();
}

TEST(Faults, ClientWithoutReconnectReportsTheLossAndEnds) {
  const std::string port = free_udp_port();
  Process server("reckoner-server", {"--insecure", "--scenario", "orbit", "--port", port});
  ASSERT_TRUE(server.wait_for("listening", kTimeoutS));
  Process client("reckoner-client", {"--insecure", "--connect", loopback_address(port), "--reconnect", "0"});
  ASSERT_TRUE(client.wait_for("joined", kTimeoutS));
  server.send_signal(SIGKILL);
  EXPECT_EQ(client.wait(kTimeoutS), 1);
  EXPECT_NE(client.errors().find("stopped responding"), std::string::npos) << client.errors();
}

// A full disk is reported with its own exit code and leaves no file that looks complete.
TEST(Faults, FullDiskIsReportedAndLeavesNoPartialFile) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "this system has no full disk to try";
  const ScratchDir dir;
  const std::vector<std::string> base{"--insecure",    "--scenario", "orbit", "--port",
                                      free_udp_port(), "--seconds",  "0.5",   "--quiet"};
  for (const char* option : {"--truth", "--json"}) {
    std::vector<std::string> arguments = base;
    arguments.insert(arguments.end(), {option, "/dev/full"});
    const Finished server = run("reckoner-server", arguments, kTimeoutS);
    EXPECT_EQ(server.exit_code, 1) << option;
    EXPECT_NE(server.errors.find("/dev/full"), std::string::npos) << server.errors;
  }
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full")) << "it was written to, not replaced";
  const Finished key = run("reckoner-token", {"key", "/dev/full"});
  EXPECT_NE(key.exit_code, 0);
}

// A shell limits files to some blocks of 512 bytes. This acts like a full disk, in a folder whose files can
// be removed.
TEST(Faults, IncompleteFileIsRemoved) {
  const ScratchDir dir;
  const std::string server = program_path("reckoner-server");
  for (const char* option : {"truth", "json"}) {
    const std::string path = dir.file(option);
    std::ofstream(path) << "of an earlier run";
    const Finished limited =
        run("/bin/sh",
            {"-c",
             "ulimit -f 0; exec \"$0\" --insecure --scenario crowd --port " + free_udp_port() +
                 " --seconds 0.5 --quiet --" + option + " \"$1\" >/dev/null 2>&1",
             server, path},
            kTimeoutS);
    EXPECT_EQ(limited.exit_code, 1) << option;
    EXPECT_FALSE(std::filesystem::exists(path + ".part"));
    const bool kept = std::string(option) == "json";
    EXPECT_EQ(std::filesystem::exists(path), kept) << "a report is replaced whole or not at all";
    if (kept) {
      EXPECT_EQ(read_file(path), "of an earlier run");
    }
  }
}

// The program's output goes through a pipe, because the limit would apply to the test's own files, too.
TEST(Faults, RecordingThatDoesNotFitTheDiskIsRemoved) {
  const ScratchDir dir;
  const std::string path = dir.file("session");
  const Finished limited =
      run("/bin/sh",
          {"-c",
           "{ (ulimit -f 0; exec \"$0\" --insecure --connect 127.0.0.1:" + free_udp_port() +
               " --seconds 0.5 --quiet --record \"$1\" >/dev/null); echo \"ended with $?\"; } 2>&1 | cat",
           program_path("reckoner-client"), path},
          kTimeoutS);
  EXPECT_NE(limited.output.find("ended with 1"), std::string::npos) << limited.output;
  EXPECT_NE(limited.output.find("could not write all of " + path), std::string::npos) << limited.output;
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Faults, LackOfMemoryIsReported) {
  if (kSanitized) GTEST_SKIP() << "the address sanitizer takes more than all";
  const ScratchDir dir;
  const std::string trace = dir.file("large.csv");
  {
    std::ofstream file(trace);
    file << "t,x,y,z\n";
    for (int i = 0; i < 3'000'000; ++i)
      file << i << ".5,1.25,2.5,3.125\n";
  }
  const Finished limited = run(
      "/bin/sh",
      {"-c",
       "ulimit -v 120000; exec \"$0\" --insecure --trace \"$1\" --port " + free_udp_port() + " --seconds 1",
       program_path("reckoner-server"), trace},
      kTimeoutS);
  EXPECT_EQ(limited.exit_code, 1) << limited.errors;
  EXPECT_NE(limited.errors.find("memory"), std::string::npos) << limited.errors;
}

// Each thread needs an address space of 8 MB for its stack.
TEST(Faults, ServerWorksWithTheThreadsThatItGets) {
  if (kSanitized) GTEST_SKIP() << "the address sanitizer takes more than all";
  const Finished limited = run(
      "/bin/sh",
      {"-c",
       "ulimit -v 160000; exec \"$0\" --insecure --threads 64 --scenario crowd --quiet --seconds 1 --port " +
           free_udp_port(),
       program_path("reckoner-server")},
      kTimeoutS);
  EXPECT_EQ(limited.exit_code, 0) << limited.errors;
  EXPECT_NE((limited.errors + limited.output).find("too few threads"), std::string::npos)
      << limited.errors << limited.output;
}

}  // namespace
}  // namespace reckoner::test
