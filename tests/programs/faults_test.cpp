// SPDX-License-Identifier: MIT
// The real programs under faults: processes that end or are suspended, and full disks.
#include "pose_table.hpp"
#include "process.hpp"
#include "tests/support/loopback.hpp"
#include "tests/support/sanitizer.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
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
  for (const char* option : {"--truth", "--json", "--decisions"}) {
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
// be removed. What a program writes beside its errors goes through a pipe, because the limit would apply to
// the test's own files, too.
Finished with_a_full_disk(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> all{"-c",
                               "{ (ulimit -f 0; exec \"$0\" \"$@\" >/dev/null); echo \"ended with $?\"; } "
                               "2>&1 | cat",
                               program_path(program)};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return run("/bin/sh", all, kTimeoutS);
}

struct Written {
  const char* program;
  const char* option;
  std::vector<std::string> arguments;
};

// Every file that an option names, with a command that writes it.
std::vector<Written> written_files() {
  const std::vector<std::string> server{"--insecure", "--scenario", "crowd", "--seconds", "0.5", "--quiet"};
  const std::vector<std::string> client{"--insecure", "--seconds", "0.5", "--quiet"};
  const std::vector<std::string> replay{"replay", "--scenario", "crowd", "--network",
                                        "lan",    "--seconds",  "3"};
  return {{"reckoner-server", "--truth", server},       {"reckoner-server", "--decisions", server},
          {"reckoner-server", "--json", server},        {"reckoner-client", "--record", client},
          {"reckoner-client", "--rendered", client},    {"reckoner-harness", "--rendered", replay},
          {"reckoner-harness", "--packets", replay},    {"reckoner-harness", "--json", replay},
          {"reckoner-harness", "--learn-codes", replay}};
}

TEST(Faults, IncompleteFileIsRemoved) {
  const ScratchDir dir;
  for (const bool exists : {true, false}) {
    for (const Written& file : written_files()) {
      const std::string port = free_udp_port();
      const std::string path = dir.file(std::string(file.program) + file.option);
      std::filesystem::remove(path);
      if (exists) std::ofstream(path) << "of an earlier run";
      std::vector<std::string> arguments = file.arguments;
      if (std::string(file.program) == "reckoner-server") arguments.insert(arguments.end(), {"--port", port});
      if (std::string(file.program) == "reckoner-client")
        arguments.insert(arguments.end(), {"--connect", loopback_address(port)});
      arguments.insert(arguments.end(), {file.option, path});
      const Finished limited = with_a_full_disk(file.program, arguments);
      const std::string what = std::string(file.program) + " " + file.option + "\n" + limited.output;
      EXPECT_NE(limited.output.find("ended with 1"), std::string::npos) << what;
      EXPECT_NE(limited.output.find("could not write all of " + path), std::string::npos) << what;
      EXPECT_FALSE(std::filesystem::exists(path + ".part")) << what;
      EXPECT_EQ(std::filesystem::exists(path), exists) << what;
      if (exists) {
        EXPECT_EQ(read_file(path), "of an earlier run") << what;
      }
    }
  }
}

// A file is replaced if, and only if, all of the new one could be written.
TEST(Faults, CompleteFileReplacesTheOldOne) {
  const ScratchDir dir;
  for (const char* option : {"--truth", "--decisions", "--json"}) {
    const std::string path = dir.file(option);
    std::ofstream(path) << "of an earlier run";
    const Finished server = run("reckoner-server",
                                {"--insecure", "--scenario", "crowd", "--port", free_udp_port(), "--seconds",
                                 "0.5", "--quiet", option, path},
                                kTimeoutS);
    EXPECT_EQ(server.exit_code, 0) << server.errors;
    EXPECT_EQ(read_file(path).find("of an earlier run"), std::string::npos) << option;
    EXPECT_GT(std::filesystem::file_size(path), 100u) << option;
    EXPECT_FALSE(std::filesystem::exists(path + ".part")) << option;
  }
}

TEST(Faults, RecordingThatDoesNotFitTheDiskIsRemoved) {
  const ScratchDir dir;
  const std::string path = dir.file("session");
  const Finished limited =
      with_a_full_disk("reckoner-client", {"--insecure", "--connect", loopback_address(free_udp_port()),
                                           "--seconds", "0.5", "--quiet", "--record", path});
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

// A command that lacks the memory to read a file names the file and its size, and how much it may use.
TEST(Faults, LackOfMemoryNamesTheFile) {
  if (kSanitized) GTEST_SKIP() << "the address sanitizer takes more than all";
  const ScratchDir dir;
  const std::string trace = dir.file("large trace.csv");
  const std::string poses = dir.file("large poses.csv");
  const std::string session = dir.file("large session");
  {
    std::ofstream traced(trace), posed(poses), recorded(session, std::ios::binary);
    traced << "t,x,y,z\n";
    posed << "frame_time_s,id,x,y,z,qw,qx,qy,qz\n";
    for (int i = 0; i < 3'000'000; ++i) {
      traced << i << ".5,1.25,2.5,3.125\n";
      posed << i << ".5,a,1.25,2.5,3.125,1,0,0,0\n";
    }
    recorded << "RECKLOG\n";
    recorded.seekp(400'000'000);  // the file has a hole
    recorded << '\n';
  }
  const std::vector<std::pair<std::string, std::vector<std::string>>> commands{
      {trace, {"replay", "--trace", trace, "--seconds", "3"}},
      {trace, {"compare", "--trace", trace, "--seconds", "3"}},
      {poses, {"measure", "--truth", poses, "--rendered", poses}},
      {session, {"replay-log", session}},
      {session, {"explain", session}},
      {poses, {"curve", "--kind", "catmull-rom", "--points", poses}}};
  for (const auto& [file, arguments] : commands) {
    std::vector<std::string> all{"-c", "ulimit -v 120000; exec \"$0\" \"$@\"",
                                 program_path("reckoner-harness")};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Finished limited = run("/bin/sh", all, kTimeoutS);
    EXPECT_EQ(limited.exit_code, 1) << arguments[0] << limited.errors;
    char size[40];
    std::snprintf(size, sizeof size, "(%.1f MB)",
                  1e-6 * static_cast<double>(std::filesystem::file_size(file)));
    for (const std::string& part :
         {std::string("out of memory"), file, std::string(size), std::string("122.9 MB")})
      EXPECT_NE(limited.errors.find(part), std::string::npos) << arguments[0] << ": " << part << '\n'
                                                              << limited.errors;
  }
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
