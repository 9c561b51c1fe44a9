// SPDX-License-Identifier: MIT
// Help, invalid input and signals, on which scripts and users rely.
#include "process.hpp"

#include <csignal>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

/// The program must refuse with a message of one line that names `culprit`, and with an exit code that is not
/// a crash.
void expect_refusal(const Finished& finished, const std::string& culprit) {
  ASSERT_TRUE(finished.exit_code.has_value()) << "still running\n" << finished.output << finished.errors;
  EXPECT_GT(*finished.exit_code, 0);
  EXPECT_LT(*finished.exit_code, 128) << "crashed";
  EXPECT_NE(finished.errors.find(culprit), std::string::npos) << finished.errors;
  EXPECT_EQ(finished.errors.find('\n'), finished.errors.size() - 1) << "not one line:\n" << finished.errors;
}

struct HelpCase {
  std::string program;
  std::vector<std::string> arguments;
  std::vector<std::string> expected_words;  ///< words that the text must contain
};

class Help : public testing::TestWithParam<HelpCase> {};

TEST_P(Help, DescribesTheOptions) {
  auto arguments = GetParam().arguments;
  arguments.push_back("--help");
  const Finished finished = run(GetParam().program, arguments);
  EXPECT_EQ(finished.exit_code, 0);
  for (const std::string& word : GetParam().expected_words) {
    EXPECT_NE(finished.output.find(word), std::string::npos) << word << " is not in\n" << finished.output;
  }
}

INSTANTIATE_TEST_SUITE_P(
    , Help,
    testing::Values(
        HelpCase{"reckoner-server",
                 {},
                 {"--trace", "--scenario", "orbit", "traffic", "crowd", "--entities", "--port",
                  "--threshold-m", "--truth", "--seconds", "--teleport-mps", "--insecure", "--trace-columns",
                  "--units", "--project", "--recentre", "--longest-gap"}},
        HelpCase{"reckoner-client", {}, {"--connect", "--mode", "--rendered", "--seconds", "--insecure"}},
        HelpCase{"reckoner-harness", {}, {"replay", "conditioner", "demo"}},
        HelpCase{"reckoner-harness",
                 {"replay"},
                 {"--trace", "--network", "--method", "--seed", "--rendered", "--json"}},
        HelpCase{"reckoner-harness",
                 {"conditioner"},
                 {"--listen", "--to", "--network", "--seed", "--latency-ms", "--jitter-ms", "--loss",
                  "--duplicate"}},
        HelpCase{"reckoner-harness",
                 {"load"},
                 {"--clients", "--entities", "--seconds", "--see", "--resting", "--json", "--threads"}},
        HelpCase{"reckoner-harness", {"demo"}, {"--trace"}}));

TEST(CommandLine, UnknownOptionIsRefused) {
  const std::string option = "--no-such-option";
  expect_refusal(run("reckoner-server", {"--insecure", "--scenario", "orbit", option}), option);
  expect_refusal(run("reckoner-client", {"--insecure", "--connect", "127.0.0.1:1", option}), option);
  expect_refusal(run("reckoner-harness", {"replay", "--scenario", "orbit", option}), option);
}

// A table that another tool wrote: what was assumed is said first, and what is missing is asked for.
TEST(CommandLine, EveryCommandReadsTracesOfOtherTools) {
  const std::string path = testing::TempDir() + "reckoner_other_tool.csv";
  {
    std::ofstream file(path);
    file << "Frame;Name;Pos X [mm];Pos Y [mm];Note\n";
    for (int i = 0; i < 120; ++i)
      file << i << ";ball;" << 50 * i << ",5;" << 20 * i << ",0;-\n";
  }
  const std::vector<std::string> replay{"replay", "--trace", path};
  expect_refusal(run("reckoner-harness", replay),
                 "'Frame' are numbers of frames: say how many there are in a "
                 "second, for example --units t=25fps");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"replay", "--trace", path},
        std::vector<std::string>{"compare", "--trace", path, "--methods", "reckoner,snap", "--seeds", "1"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--units", "t=25fps"});
    const Finished finished = run("reckoner-harness", arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.errors;
    EXPECT_TRUE(finished.errors.starts_with(
        path +
        ": read t from 'Frame' (frames at 25 a second), x from 'Pos X [mm]', y from 'Pos Y [mm]', z = 0 "
        "(millimetres), ids from 'Name'\n"))
        << finished.errors;
  }
  std::vector<std::string> slow = replay;
  slow.insert(slow.end(), {"--units", "t=1fps", "--columns", "x=3,y=Pos Y [mm]"});
  const Finished finished = run("reckoner-harness", slow);
  EXPECT_TRUE(
      finished.errors.starts_with(path + ": there are 1 samples a second, 1 s apart; nothing is measured"))
      << finished.errors;
  slow.insert(slow.end(), {"--longest-gap", "1.5"});
  EXPECT_TRUE(run("reckoner-harness", slow).errors.starts_with(path + ": read t")) << finished.errors;
  std::remove(path.c_str());
}

TEST(CommandLine, InvalidNumberIsRefused) {
  for (const std::string value : {"nan", "-nan", "inf", "-inf", "1e999"}) {
    expect_refusal(run("reckoner-server", {"--insecure", "--scenario", "orbit", "--tick-rate", value}),
                   "--tick-rate");
    expect_refusal(run("reckoner-server", {"--insecure", "--scenario", "orbit", "--seconds", value}),
                   "--seconds");
    expect_refusal(
        run("reckoner-client", {"--insecure", "--connect", "127.0.0.1:1", "--blend-frames", value}),
        "--blend-frames");
    expect_refusal(run("reckoner-harness", {"replay", "--scenario", "orbit", "--latency-ms", value}),
                   "--latency-ms");
    expect_refusal(run("reckoner-harness", {"replay", "--scenario", "orbit", "--threshold-m", value}),
                   "--threshold-m");
    expect_refusal(run("reckoner-harness", {"load", "--clients", "1", "--entities", "1", "--seconds", value}),
                   "--seconds");
  }
}

TEST(CommandLine, MissingTraceIsRefused) {
  expect_refusal(
      run("reckoner-server", {"--insecure", "--trace", "/no/such/trace.csv", "--port", free_udp_port()}),
      "/no/such/trace.csv");
  expect_refusal(run("reckoner-harness", {"replay", "--trace", "/no/such/trace.csv", "--network", "lan"}),
                 "/no/such/trace.csv");
}

TEST(CommandLine, MalformedTraceIsRefusedByFileAndLine) {
  const ScratchDir dir;
  const std::vector<std::string> bad = {
      "",
      "no,header,here\n1,2,3\n",
      "t,x,y,z\n0,0,0,0\n0.1,zero,0,0\n",
      "t,x,y,z\n0,0,0,0\n0.1,0,0\n0.2,0,0,0\n",
      "t,x,y,z\n0,nan,0,0\n",
      "t,x,y,z\n0.2,0,0,0\n0.1,0,0,0\n",
      std::string("\0\xff\xfe\x01garbage", 12),
  };
  for (std::size_t i = 0; i < bad.size(); ++i) {
    const std::string path = dir.file("bad" + std::to_string(i) + ".csv");
    std::ofstream(path, std::ios::binary) << bad[i];
    expect_refusal(run("reckoner-server", {"--insecure", "--trace", path, "--port", free_udp_port()}), path);
    expect_refusal(run("reckoner-harness", {"replay", "--trace", path, "--network", "lan"}), path);
  }
}

TEST(CommandLine, UnknownScenarioNamesTheKnownOnes) {
  expect_refusal(run("reckoner-server", {"--insecure", "--scenario", "nowhere", "--port", free_udp_port()}),
                 "crowd");
}

TEST(CommandLine, PortInUseIsRefused) {
  const UdpSocket taken;
  const std::string port = std::to_string(taken.port());
  expect_refusal(run("reckoner-server", {"--insecure", "--scenario", "orbit", "--port", port}), port);
  expect_refusal(run("reckoner-harness", {"conditioner", "--listen", port, "--to",
                                          "127.0.0.1:" + free_udp_port(), "--network", "lan"}),
                 port);
}

TEST(CommandLine, MissingServerIsReportedInOneLine) {
  const std::string address = "127.0.0.1:" + free_udp_port();
  expect_refusal(run("reckoner-client", {"--insecure", "--connect", address}, 60.0), address);
}

TEST(CommandLine, BadAddressesAreRefused) {
  for (const char* address : {"127.0.0.1", "127.0.0.1:0", "127.0.0.1:70000", ":1", "127.0.0.1:port", ""}) {
    const Finished finished = run("reckoner-client", {"--insecure", "--connect", address}, 60.0);
    ASSERT_TRUE(finished.exit_code.has_value()) << address;
    EXPECT_GT(*finished.exit_code, 0) << address;
    EXPECT_LT(*finished.exit_code, 128) << address;
    EXPECT_FALSE(finished.errors.empty()) << address;
  }
}

TEST(CommandLine, UnwritableOutputIsRefusedAtOnce) {
  expect_refusal(run("reckoner-server", {"--insecure", "--scenario", "orbit", "--port", free_udp_port(),
                                         "--seconds", "9", "--truth", "/no/such/dir/truth.csv"}),
                 "/no/such/dir/truth.csv");
  expect_refusal(run("reckoner-client", {"--insecure", "--connect", "127.0.0.1:" + free_udp_port(),
                                         "--rendered", "/no/such/dir/shown.csv"}),
                 "/no/such/dir/shown.csv");
}

TEST(CommandLine, ArenaPrintsATableForEachMode) {
  const ScratchDir dir;
  const std::string json = dir.file("arena.json");
  const Finished arena =
      run("reckoner-harness", {"arena", "--seconds", "10", "--players", "2", "--bots", "4", "--riders", "1",
                               "--network", "lan,wifi", "--without", "floors", "--json", json});
  EXPECT_EQ(arena.exit_code, 0) << arena.errors;
  for (const char* const text :
       {"present", "adaptive", "lan", "wifi", "error of bots", "received by a player"})
    EXPECT_NE(arena.output.find(text), std::string::npos) << text;
  const std::string written = read_file(json);
  for (const char* const text : {"\"floors\": false", "\"pending\": true", "\"bot_error_p95_m\""})
    EXPECT_NE(written.find(text), std::string::npos) << text;
  expect_refusal(run("reckoner-harness", {"arena", "--network", "lan,moon"}), "moon");
  expect_refusal(run("reckoner-harness", {"arena", "--without", "gravity"}), "gravity");
  expect_refusal(run("reckoner-harness", {"arena", "--mode", "delayed"}), "delayed");
  expect_refusal(run("reckoner-harness", {"arena", "--players", "0"}), "players");
}

TEST(CommandLine, FootballHasThePlayersGameBesideTheReplay) {
  const ScratchDir dir;
  const std::string json = dir.file("football.json");
  const Finished replay =
      run("reckoner-harness", {"replay", "--scenario", "football", "--network", "lan", "--seconds", "3",
                               "--players", "2", "--input-rate", "30", "--json", json});
  EXPECT_EQ(replay.exit_code, 0) << replay.errors;
  for (const char* const text : {"same-time error", "players' game over lan: 2 players, 3 s, seed 1",
                                 "no-prediction", "ownership", "exponential-0.85", "reckoner"})
    EXPECT_NE(replay.output.find(text), std::string::npos) << text;
  const std::string written = read_file(json);
  for (const char* const text : {"\"now_error_m\"", "\"own_response_frames\"", "\"players_game\"",
                                 "\"inputs_per_datagram\": 2", "\"method\": \"snap\""})
    EXPECT_NE(written.find(text), std::string::npos) << text;

  // Where the game is not possible, the replay goes on without it, unless the game was asked for.
  const Finished slow = run("reckoner-harness", {"replay", "--scenario", "football", "--network", "lan",
                                                 "--seconds", "3", "--tick-rate", "10"});
  EXPECT_EQ(slow.exit_code, 0) << slow.errors;
  EXPECT_NE(slow.output.find("players' game left out: --tick-rate 10"), std::string::npos) << slow.output;
  expect_refusal(run("reckoner-harness", {"replay", "--scenario", "football", "--network", "lan",
                                          "--tick-rate", "10", "--players", "2"}),
                 "--tick-rate 10");
  expect_refusal(run("reckoner-harness", {"replay", "--scenario", "orbit", "--players", "2"}), "--players");
  expect_refusal(run("reckoner-harness", {"football", "--network", "lan,moon"}), "moon");
  expect_refusal(run("reckoner-harness", {"football", "--input-rate", "45"}), "--input-rate 45");
}

class StopSignal : public testing::TestWithParam<int> {};

TEST_P(StopSignal, EndsServerConditionerAndClientCleanlyWithASummary) {
  const ScratchDir dir;
  const std::string port = free_udp_port();
  const std::string relay_port = free_udp_port();
  Process server("reckoner-server", {"--insecure", "--scenario", "orbit", "--port", port});
  Process relay("reckoner-harness", {"conditioner", "--listen", relay_port, "--to", "127.0.0.1:" + port,
                                     "--network", "lan", "--seed", "1"});
  const std::string shown = dir.file("shown.csv");
  Process client("reckoner-client",
                 {"--insecure", "--connect", "127.0.0.1:" + relay_port, "--rendered", shown});
  ASSERT_FALSE(client.wait(3.0)) << client.output() << client.errors();
  for (Process* process : {&client, &relay, &server}) {
    process->send_signal(GetParam());
    EXPECT_EQ(process->wait(10.0), 0) << process->output() << process->errors();
    EXPECT_FALSE(process->output().empty()) << "no summary";
  }
  EXPECT_GT(read_file(shown).size(), 1000u);
}

INSTANTIATE_TEST_SUITE_P(, StopSignal, testing::Values(SIGINT, SIGTERM));

// What is wrong in a word, and what the user meant.
TEST(CommandLine, NamesTheMostSimilarCommandOrOption) {
  const std::string similar = " Did you mean ";
  expect_refusal(run("reckoner-harness", {"repley"}), "there is no command 'repley'." + similar + "replay?");
  expect_refusal(run("reckoner-harness", {"replay", "--sconario", "crowd"}),
                 "there is no option --sconario." + similar + "--scenario?");
  expect_refusal(run("reckoner-server", {"--prot=3"}), "there is no option --prot." + similar + "--port?");
  const Finished unlike = run("reckoner-server", {"--xyzzy-quux"});
  expect_refusal(unlike, "there is no option --xyzzy-quux.");
  EXPECT_EQ(unlike.errors.find(similar), std::string::npos) << unlike.errors;
}

TEST(CommandLine, SaysWhatIsWrongWithANumber) {
  const std::vector<std::string> replay{"replay", "--scenario", "orbit"};
  const auto with = [&](const std::string& option, const std::string& value) {
    auto arguments = replay;
    arguments.insert(arguments.end(), {option, value});
    return run("reckoner-harness", arguments);
  };
  expect_refusal(with("--seconds", "abc"), "--seconds: Value abc is not a number");
  expect_refusal(with("--seconds", "-3"), "--seconds: Value -3 is negative");
  expect_refusal(with("--seed", "1.5"), "--seed: Value 1.5 is not a whole number");
  expect_refusal(run("reckoner-server", {"--port", "99999"}), "--port: Value 99999 not in range 0 to 65535");
}

TEST(CommandLine, EachProgramPrintsItsVersion) {
  for (const char* program : {"reckoner-server", "reckoner-client", "reckoner-token", "reckoner-harness"}) {
    const Finished finished = run(program, {"--version"});
    EXPECT_EQ(finished.exit_code, 0);
    EXPECT_TRUE(finished.output.starts_with(program)) << finished.output;
    EXPECT_NE(finished.output.find(", wire version "), std::string::npos) << finished.output;
  }
}

}  // namespace
}  // namespace reckoner::test
