// SPDX-License-Identifier: MIT
// reckoner-server's configuration file: every option, clear errors, and the command line overrides the file.
#include "process.hpp"

#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

class ConfigFile : public testing::Test {
 protected:
  std::string write(const std::string& text) {
    const std::string path = dir_.file("server.toml");
    std::ofstream(path) << text;
    return path;
  }
  Finished serve(const std::string& text, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"--config", write(text)});
    return run("reckoner-server", more);
  }
  const ScratchDir dir_;
};

TEST_F(ConfigFile, SetsTheOptionsOfTheCommandLine) {
  const std::string counts = dir_.file("counts.json");
  const Finished finished = serve(
      "# a comment\nscenario = \"orbit\"\ninsecure = true\nport = 0\nseconds = 1\n"
      "tick-rate = 30\nthreshold-m = 0.1\nquiet = true\njson = \"" +
      counts + "\"\n");
  EXPECT_EQ(finished.exit_code, 0) << finished.errors;
  EXPECT_NE(finished.output.find("31 ticks"), std::string::npos) << finished.output;
  EXPECT_NE(read_file(counts).find("\"ticks\": 31"), std::string::npos);
}

TEST_F(ConfigFile, CommandLineOverridesTheFile) {
  const Finished finished =
      serve("scenario = \"orbit\"\nkey = \"/no/such.key\"\nport = 0\nseconds = 60\nfixed-rate = 5.0\n",
            {"--seconds", "0.5", "--insecure", "--updates-per-second", "5"});
  EXPECT_EQ(finished.exit_code, 0) << finished.errors;
  EXPECT_NE(finished.output.find("31 ticks"), std::string::npos) << finished.output;
}

// A section or dotted keys: TOML allows both.
TEST_F(ConfigFile, AcceptsLimitsInASection) {
  for (const char* limits : {"[limits]\nburst-s = 3\npeers-per-address = 2\n", "limits.burst-s = 3\n"}) {
    const Finished finished =
        serve("scenario = \"orbit\"\ninsecure = true\nport = 0\nseconds = 0.1\n" + std::string(limits),
              {"--limits.silence-s", "20"});
    EXPECT_EQ(finished.exit_code, 0) << finished.errors;
  }
}

TEST_F(ConfigFile, AcceptsAListOfAddresses) {
  const std::string key = dir_.file("game.key");
  ASSERT_EQ(run("reckoner-token", {"key", key}).exit_code, 0);
  const std::string start = "scenario = \"orbit\"\nport = 0\nseconds = 0.1\nkey = \"" + key + "\"\n";
  const Finished two = serve(start + "address = [\"10.9.9.9:1\", \"10.9.9.8\"]\n");
  EXPECT_EQ(two.exit_code, 0) << two.errors;
  EXPECT_NE(two.errors.find("10.9.9.9:1 10.9.9.8:"), std::string::npos) << two.errors;
  const Finished one = serve(start + "address = \"10.9.9.9:1\"\n");
  EXPECT_NE(one.errors.find("10.9.9.9:1"), std::string::npos) << one.errors;
  const Finished overruled = serve(start + "address = \"10.9.9.9:1\"\n", {"--address", "127.0.0.1:5"});
  EXPECT_EQ(overruled.errors.find("10.9.9.9"), std::string::npos) << overruled.errors;
  EXPECT_NE(overruled.errors.find("127.0.0.1:5"), std::string::npos) << overruled.errors;
}

struct Bad {
  std::string text;
  std::string says;
};

TEST_F(ConfigFile, ErrorsNameTheLine) {
  const std::vector<Bad> all = {
      {"scenario = \"orbit\"\nprot = 26000\n", ":2: there is no option 'prot'"},
      {"scenario = 5\n", ":1: 'scenario' must be a string, not a whole number"},
      {"\n\nport = \"26000\"\n", ":3: 'port' must be a whole number, not a string"},
      {"port = 70000\n", ":1: 'port'"},
      {"port = -1\n", ":1: 'port'"},
      {"port = 1.5\n", ":1: 'port' must be a whole number, not a number with a fraction"},
      {"tick-rate = 0.5\n", ":1: 'tick-rate'"},
      {"tick-rate = nan\n", ":1: 'tick-rate' must be a number, not NaN or infinity"},
      {"tick-rate = true\n", ":1: 'tick-rate' must be a number, not true or false"},
      {"insecure = \"yes\"\n", ":1: 'insecure' must be true or false, not a string"},
      {"insecure = 1\n", ":1: 'insecure' must be true or false, not a whole number"},
      {"log-level = \"loud\"\n", ":1: 'log-level'"},
      {"host = [\"127.0.0.1\"]\n", ":1: 'host' must be a string, not a list"},
      {"[server]\nport = 1\n", ":1: there is no option 'server'"},
      {"[port]\nnumber = 1\n", ":1: 'port' must be a whole number, not a section"},
      {"[limits]\nburst-s = 2.0\nburst = 2.0\n", ":3: there is no option 'limits.burst'"},
      {"[limits]\nsilence-s = 0.5\n", ":2: 'limits.silence-s'"},
      {"[limits]\nwaiting-events = \"many\"\n", ":2: 'limits.waiting-events' must be a whole number"},
      {"[limits]\ntokens-per-second = inf\n", ":2: 'limits.tokens-per-second' must be a number"},
      {"limits = 5\n", ":1: 'limits' must be a section, not a whole number"},
      {"[limits.burst-s]\nx = 1\n", ":1: 'limits.burst-s' must be a number, not a section"},
      {"address = 5\n", ":1: 'address' must be a string, or several in a list, not a whole number"},
      {"address = [\"a:1\", 5]\n", ":1: 'address' must be a string, or several in a list, not a list"},
      {"address = \"a:1\"\ninsecure = true\n", "excludes --"},
      {"config = \"other.toml\"\n", ":1: there is no option 'config'"},
      {"help = true\n", ":1: there is no option 'help'"},
      {"start = 1979-05-27\n", ":1: 'start' must be a number, not a date or time"},
      {"scenario = \"orbit\"\ntrace = \"a.csv\"\n", "excludes --"},
      {"port = 1\nport = 2\n", ":2: "},
      {"port = \n", ":1: "},
      {"scenario = \"orb\n", ":1: "},
      {std::string("\0\xff\xfe", 3), ":1: "},
  };
  for (const Bad& bad : all) {
    const Finished finished = serve(bad.text, {"--seconds", "0.1"});
    EXPECT_EQ(finished.exit_code, 2) << bad.text << finished.output;
    EXPECT_NE(finished.errors.find("server.toml" + (bad.says[0] == ':' ? bad.says : std::string(":"))),
              std::string::npos)
        << bad.text << finished.errors;
    EXPECT_NE(finished.errors.find(bad.says), std::string::npos) << bad.text << finished.errors;
    EXPECT_EQ(finished.errors.find('\n'), finished.errors.size() - 1) << "not one line:\n" << finished.errors;
  }
}

TEST_F(ConfigFile, MissingFileIsRefused) {
  const Finished finished = run("reckoner-server", {"--config", "/no/such.toml"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_NE(finished.errors.find("/no/such.toml"), std::string::npos) << finished.errors;
}

// A bind mount of a missing file creates a directory. If the server read it as an empty file, it would use no
// limits from the file.
TEST_F(ConfigFile, DirectoryOrEndlessFileIsRefused) {
  for (const char* path : {"/tmp", "/dev/zero"}) {
    const Finished finished = run("reckoner-server", {"--config", path, "--scenario", "orbit", "--insecure"});
    EXPECT_EQ(finished.exit_code, 2) << path;
    EXPECT_NE(finished.errors.find(path), std::string::npos) << finished.errors;
    EXPECT_EQ(finished.errors.find('\n'), finished.errors.size() - 1) << "not one line:\n" << finished.errors;
  }
}

// Every option of the command line must be accepted in a file.
TEST_F(ConfigFile, AcceptsEveryOption) {
  const std::string help = run("reckoner-server", {"--help"}).output;
  const std::regex option(R"(\n\s+(?:-\w,)?--([a-z.-]+))");
  std::set<std::string> names;
  for (std::sregex_iterator it(help.begin(), help.end(), option), end; it != end; ++it)
    names.insert((*it)[1]);
  EXPECT_GT(names.size(), 35u) << help;
  EXPECT_TRUE(names.contains("limits.burst-s"));
  for (const std::string& name : names) {
    if (name == "help" || name == "config") continue;
    // No option takes an empty list. A known name is refused because of its value, an unknown one because of
    // its name.
    const Finished finished = serve(name + " = []\n");
    EXPECT_NE(finished.errors.find("'" + name + "' must be"), std::string::npos) << finished.errors;
  }
}

}  // namespace
}  // namespace reckoner::test
