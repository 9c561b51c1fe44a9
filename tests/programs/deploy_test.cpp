// SPDX-License-Identifier: MIT
// The files for operators match the programs: names of metrics, options, paths.
#include "http.hpp"
#include "process.hpp"
#include "tests/support/locations.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace reckoner::test {
namespace {

const std::filesystem::path kDeploy = source_dir() / "deploy";

std::set<std::string> all_matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it)
    found.insert(it->size() > 1 ? (*it)[1] : (*it)[0]);
  return found;
}

TEST(Dashboard, NamesOnlyMetricsThatTheServerExports) {
  Process server("reckoner-server",
                 {"--insecure", "--scenario", "orbit", "--port", "0", "--metrics-port", "0"});
  ASSERT_TRUE(server.wait_for("/metrics\n")) << server.errors();
  const std::string says = "metrics on http://127.0.0.1:";
  const std::size_t at = server.output().find(says);
  const auto port = static_cast<std::uint16_t>(std::atoi(server.output().c_str() + at + says.size()));
  std::string page;
  for (int i = 0; i < 40 && page.find("reckoner_error_metres{") == std::string::npos; ++i) {
    page = http_get(port, "/metrics").body;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  std::set<std::string> exported = all_matches(page, "\n(reckoner_[a-z_]+)[{ ]");
  ASSERT_GT(exported.size(), 20u) << page;

  const auto dashboard = nlohmann::json::parse(read_file(kDeploy / "grafana.json"), nullptr, false);
  ASSERT_TRUE(dashboard.is_object());
  std::set<std::string> shown;
  std::set<int> panels;
  for (const auto& panel : dashboard["panels"]) {
    EXPECT_TRUE(panels.insert(panel["id"].get<int>()).second) << "two panels with one id";
    for (const auto& target : panel["targets"]) {
      const std::string query = target["expr"];
      const auto names = all_matches(query, "reckoner_[a-z_]+");
      EXPECT_FALSE(names.empty()) << query;
      shown.insert(names.begin(), names.end());
      for (const std::string& pair : all_matches(query, R"(([a-z]+="[a-z0-9.]+"))"))
        EXPECT_NE(page.find(pair), std::string::npos) << pair << " in " << query;
      for (const std::string& list : all_matches(query, R"(by \(([a-z, ]+)\))")) {
        for (const std::string& label : all_matches(list, "[a-z]+"))
          EXPECT_TRUE(label == "instance" || page.find(label + "=\"") != std::string::npos) << label;
      }
    }
  }
  for (const std::string& name : shown)
    EXPECT_TRUE(exported.contains(name)) << name << " is not exported";
  EXPECT_GT(shown.size(), 15u);
  const std::string document = read_file(source_dir() / "docs/OPERATIONS.md");
  for (std::string name : exported) {
    name = std::regex_replace(name, std::regex("_(bucket|sum|count)$"), "");
    EXPECT_NE(document.find("`" + name), std::string::npos) << name << " is in no document";
  }
}

// The commented-out lines are options, too. Each is tried alone, to check its name and type.
TEST(ExampleConfiguration, EveryLineIsAccepted) {
  const ScratchDir dir;
  std::istringstream lines(read_file(kDeploy / "server.toml"));
  int taken = 0;
  const std::regex option(R"(^(# )?([a-z.-]+ = .*)$)");
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, option)) continue;
    const std::string path = dir.file("one.toml");
    std::ofstream(path) << match[2] << "\n";
    // The server fails because the host does not exist, not because of the file.
    const Finished finished = run("reckoner-server", {"--config", path, "--host", "no.such.host.invalid"});
    EXPECT_EQ(finished.errors.find("one.toml"), std::string::npos) << line << "\n" << finished.errors;
    ++taken;
  }
  EXPECT_GT(taken, 20);
}

TEST(ServiceUnit, UsesExistingServerOptions) {
  const std::string unit = read_file(kDeploy / "reckoner-server.service");
  const std::string help = run("reckoner-server", {"--help"}).output;
  const auto lines = all_matches(unit, "\nExecStart=([^\n]+)");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines.begin()->starts_with("/usr/bin/reckoner-server "));
  for (const std::string& option : all_matches(*lines.begin(), "--[a-z-]+"))
    EXPECT_NE(help.find(option), std::string::npos) << option;
  // The server needs no more than a socket. If you loosen one of these restrictions, give the reason here.
  for (const char* hardening :
       {"DynamicUser=yes", "NoNewPrivileges=yes", "ProtectSystem=strict", "CapabilityBoundingSet=\n",
        "SystemCallFilter=@system-service", "RestrictAddressFamilies=AF_INET AF_INET6 AF_NETLINK\n"})
    EXPECT_NE(unit.find(hardening), std::string::npos) << hardening;
}

TEST(ContainerFile, RunsUnprivilegedWithExistingServerOptions) {
  const std::string file = read_file(kDeploy / "Containerfile");
  const std::string help = run("reckoner-server", {"--help"}).output;
  const std::size_t last = file.rfind("\nFROM ");
  ASSERT_NE(last, std::string::npos);
  const std::string runs = file.substr(last);
  EXPECT_TRUE(runs.starts_with("\nFROM debian:12-slim")) << runs;
  EXPECT_NE(runs.find("\nUSER "), std::string::npos);
  EXPECT_EQ(runs.find("USER root"), std::string::npos);
  for (const std::string& option : all_matches(runs.substr(runs.find("\nENTRYPOINT")), "--[a-z-]+"))
    EXPECT_NE(help.find(option), std::string::npos) << option;
}

}  // namespace
}  // namespace reckoner::test
