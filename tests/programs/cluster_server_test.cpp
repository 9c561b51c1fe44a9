// SPDX-License-Identifier: MIT
// reckoner-server as a part of a world on several servers, over a real nats-server, which the tests start.
// They are skipped where nats-server is missing. No test compares times.
#include "cluster/src/wire/bus_messages.hpp"
#include "cluster/src/wire/subjects.hpp"
#include "http.hpp"
#include "process.hpp"
#include "tests/cluster/nats_attacker.hpp"
#include "tests/support/locations.hpp"
#include "tests/support/random_port.hpp"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <regex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

bool is_installed(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) ==
         0;  // NOLINT(concurrency-mt-unsafe)
}

class ClusterServer : public testing::Test {
 protected:
  void SetUp() override {
    if (!is_installed("nats-server")) GTEST_SKIP() << "nats-server is not installed";
  }
  void start_nats(const std::vector<std::string>& more = {}) {
    port_ = random_port();
    std::vector<std::string> arguments{"nats-server", "-js",       "-sd", dir_.file("js"),
                                       "-a",          "127.0.0.1", "-p",  port_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    nats_ = std::make_unique<Process>("/usr/bin/env", arguments);
    ASSERT_TRUE(nats_->wait_for("Server is ready")) << nats_->errors();
  }
  [[nodiscard]] std::vector<std::string> member(const std::string& role, const std::string& name,
                                                const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"--world", "w",  "--nats",     "nats://127.0.0.1:" + port_,
                                       "--role",  role, "--name",     name,
                                       "--port",  "0",  "--insecure", "--quiet"};
    if (role != "gateway") arguments.insert(arguments.end(), {"--scenario", "crowd", "--entities", "20"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  [[nodiscard]] Finished refused(const std::vector<std::string>& arguments) const {
    return run("reckoner-server", arguments, 40.0);
  }
  static std::uint16_t number_after(const std::string& output, const std::string& text) {
    std::smatch found;
    if (!std::regex_search(output, found, std::regex(text + "(\\d+)"))) return 0;
    return static_cast<std::uint16_t>(std::stoi(found[1]));
  }
  // The value of a metric, -1 if it is missing.
  static double metric(std::uint16_t port, const std::string& name) {
    const std::string page = http_get(port, "/metrics").body;
    const std::size_t at = page.find("\n" + name + " ");
    return at == std::string::npos ? -1.0 : std::atof(page.c_str() + at + name.size() + 2);
  }
  template <class Done>
  static bool wait(Done done) {
    for (int i = 0; i < 600; ++i) {
      if (done()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }

  const ScratchDir dir_;
  std::string port_ = "1";
  std::unique_ptr<Process> nats_;
};

TEST_F(ClusterServer, TwoSimulatorsAndAGatewayServeAClient) {
  start_nats();
  Process one("reckoner-server", member("simulator", "one", {"--metrics-port", "0"}));
  ASSERT_TRUE(one.wait_for("metrics on")) << one.errors();
  Process two("reckoner-server", member("simulator", "two", {"--metrics-port", "0"}));
  Process gate("reckoner-server", member("gateway", "gate", {"--metrics-port", "0"}));
  ASSERT_TRUE(two.wait_for("metrics on")) << two.errors();
  ASSERT_TRUE(gate.wait_for("metrics on")) << gate.errors();
  const auto port_of = [](const Process& p) {
    return number_after(p.output(), "metrics on http://127.0.0.1:");
  };
  // All cells are held, and the gateway knows all entities.
  EXPECT_TRUE(wait([&] {
    return metric(port_of(one), "reckoner_cluster_held_cells") +
                   metric(port_of(two), "reckoner_cluster_held_cells") ==
               16.0 &&
           metric(port_of(one), "reckoner_cluster_held_entities") +
                   metric(port_of(two), "reckoner_cluster_held_entities") ==
               20.0 &&
           metric(port_of(gate), "reckoner_entities") == 20.0;
  })) << http_get(port_of(one), "/metrics").body
      << http_get(port_of(gate), "/metrics").body;
  EXPECT_EQ(metric(port_of(gate), "reckoner_cluster_shown_cells"), 16.0);
  EXPECT_EQ(metric(port_of(gate), "reckoner_cluster_connected"), 1.0);
  EXPECT_GT(metric(port_of(gate), "reckoner_cluster_bus_bytes_total{direction=\"received\"}"), 0.0);
  EXPECT_NE(http_get(port_of(one), "/metrics").body.find("reckoner_cluster_cell_epoch{cell="),
            std::string::npos);

  const std::string csv = dir_.file("shown.csv");
  const Finished client =
      run("reckoner-client",
          {"--connect", "127.0.0.1:" + std::to_string(number_after(gate.output(), "listening on port ")),
           "--insecure", "--seconds", "2", "--rendered", csv},
          30.0);
  EXPECT_EQ(client.exit_code, 0) << client.errors;
  const std::string table = read_file(csv);
  EXPECT_NE(table.find("walker"), std::string::npos) << table.substr(0, 400);

  // A simulator that ends hands everything over.
  one.send_signal(15);
  EXPECT_EQ(one.wait(), 0) << one.errors();
  EXPECT_TRUE(wait([&] { return metric(port_of(two), "reckoner_cluster_held_entities") == 20.0; }));
  EXPECT_GT(metric(port_of(two), "reckoner_cluster_handovers_total{direction=\"in\"}"), 0.0);
  EXPECT_EQ(metric(port_of(two), "reckoner_cluster_handovers_total{direction=\"adopted\"}"), 0.0);
  two.send_signal(15);
  gate.send_signal(15);
  EXPECT_EQ(two.wait(), 0) << two.errors();
  EXPECT_EQ(gate.wait(), 0) << gate.errors();
}

// Somebody without a lease reaches the port of a NATS server without users.
TEST_F(ClusterServer, AStrangerOnTheBusChangesNothing) {
  start_nats();
  Process one("reckoner-server", member("simulator", "one", {"--metrics-port", "0"}));
  ASSERT_TRUE(one.wait_for("metrics on")) << one.errors();
  Process gate("reckoner-server", member("gateway", "gate", {"--metrics-port", "0"}));
  ASSERT_TRUE(gate.wait_for("metrics on")) << gate.errors();
  const auto page_of = [](const Process& p) {
    return number_after(p.output(), "metrics on http://127.0.0.1:");
  };
  const auto is_right = [&] {
    return metric(page_of(one), "reckoner_cluster_held_cells") == 16.0 &&
           metric(page_of(one), "reckoner_cluster_held_entities") == 20.0 &&
           metric(page_of(gate), "reckoner_entities") == 20.0;
  };
  ASSERT_TRUE(wait(is_right));
  NatsAttacker attacker(static_cast<std::uint16_t>(std::stoi(port_)), "", "");
  ASSERT_TRUE(attacker.is_open());
  const cluster::WorldCodec codec{{Archetype{}}};
  const auto publish = [&](const std::string& subject, const cluster::BusPayload& message) {
    const auto bytes = cluster::encode(message, codec);
    attacker.publish(subject, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  };
  cluster::Heartbeat lie{.process = {999}, .name = "liar", .simulator = true};
  for (std::uint32_t cell = 0; cell < 16; ++cell) {
    lie.cells.push_back(cell);
    lie.epochs.push_back(UINT32_MAX);
  }
  for (std::uint32_t i = 0; i < 300; ++i) {
    lie.process = {999 + i};
    publish(cluster::members_subject("w", cluster::Role::simulator), lie);
    for (std::uint32_t cell = 0; cell < 16; ++cell) {
      cluster::Batch batch;
      batch.cell = cell;
      batch.writer = lie.process;
      batch.holds_cell = true;
      batch.cell_epoch = UINT32_MAX;
      for (std::uint32_t slot = 0; slot < 40; ++slot)
        batch.gone.push_back({{slot + 1, 1}, UINT32_MAX, std::nullopt});
      batch.gone.push_back({{kMaxEntities, 1}, 1, std::nullopt});
      publish(cluster::cell_subject("w", cell), batch);
    }
    if (i % 20 == 0) {
      ASSERT_TRUE(attacker.flush());
    }
  }
  const std::string unknown = "reckoner_cluster_refused_total{reason=\"unknown\"}";
  EXPECT_TRUE(wait([&] { return metric(page_of(gate), unknown) >= 300.0 * 16.0; }))
      << http_get(page_of(gate), "/metrics").body;
  EXPECT_GT(metric(page_of(one), unknown), 0.0);
  EXPECT_TRUE(wait(is_right)) << http_get(page_of(one), "/metrics").body;
  EXPECT_EQ(metric(page_of(gate), "reckoner_cluster_writes_refused_total{writer=\"other\"}"), 0.0);
  // The heartbeats have cost a read each at most, the batches nothing.
  EXPECT_LT(metric(page_of(gate), "reckoner_cluster_table_reads_total"), 500.0);
  EXPECT_LT(metric(page_of(gate), "reckoner_cluster_repairs_total"), 100.0);
  EXPECT_EQ(metric(page_of(gate), "reckoner_cluster_connected"), 1.0);
}

TEST_F(ClusterServer, BothRolesFromAFileWithUserAndPassword) {
  start_nats({"--user", "u", "--pass", "secret"});
  const std::string path = dir_.file("server.toml");
  std::ofstream(path)
      << "scenario = \"orbit\"\ninsecure = true\nport = 0\nmetrics-port = 0\nquiet = true\n"
      << "world = \"w\"\nrole = \"both\"\nname = \"all\"\ncell-m = 50\ncolumns = 2\nrows = 2\n"
      << "nats = \"nats://127.0.0.1:" << port_ << "\"\nnats-user = \"u\"\n"
      << "nats-password = \"secret\"\n";
  Process both("reckoner-server", {"--config", path});
  ASSERT_TRUE(both.wait_for("metrics on")) << both.errors();
  const std::uint16_t port = number_after(both.output(), "metrics on http://127.0.0.1:");
  EXPECT_TRUE(wait([&] {
    return metric(port, "reckoner_cluster_held_cells") == 4.0 &&
           metric(port, "reckoner_cluster_shown_cells") == 4.0 && metric(port, "reckoner_entities") > 0.0;
  })) << http_get(port, "/metrics").body;
  both.send_signal(15);
  EXPECT_EQ(both.wait(), 0) << both.errors();
  const Finished wrong = refused({"--config", path, "--nats-password", "guess"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_NE(wrong.errors.find("nats://127.0.0.1:" + port_), std::string::npos) << wrong.errors;
}

// The permissions of deploy/nats.conf suffice for both roles, and no role can be the other one.
TEST_F(ClusterServer, RolesWithTheirOwnUsersServeAClient) {
  port_ = random_port();
  std::string text = read_file((source_dir() / "deploy/nats.conf").string());
  for (const auto& [what, by] :
       std::vector<std::pair<std::string, std::string>>{{"127\\.0\\.0\\.1:4222", "127.0.0.1:" + port_},
                                                        {"/var/lib/nats", dir_.file("js")},
                                                        {"\\$RECKONER_SIMULATOR_PASSWORD", "one"},
                                                        {"\\$RECKONER_GATEWAY_PASSWORD", "two"},
                                                        {"arena([.-])", "w$1"}})
    text = std::regex_replace(text, std::regex(what), by);
  const std::string path = dir_.file("nats.conf");
  std::ofstream(path) << text;
  nats_ = std::make_unique<Process>("/usr/bin/env", std::vector<std::string>{"nats-server", "-c", path});
  ASSERT_TRUE(nats_->wait_for("Server is ready")) << nats_->errors();
  const auto as = [&](const std::string& role, const std::string& user, const std::string& password,
                      const std::string& name) {
    return member(role, name, {"--metrics-port", "0", "--nats-user", user, "--nats-password", password});
  };
  Process one("reckoner-server", as("simulator", "simulator", "one", "one"));
  ASSERT_TRUE(one.wait_for("metrics on")) << one.errors();
  Process two("reckoner-server", as("simulator", "simulator", "one", "two"));
  Process gate("reckoner-server", as("gateway", "gateway", "two", "gate"));
  ASSERT_TRUE(two.wait_for("metrics on")) << two.errors();
  ASSERT_TRUE(gate.wait_for("metrics on")) << gate.errors();
  const auto port_of = [](const Process& p) {
    return number_after(p.output(), "metrics on http://127.0.0.1:");
  };
  EXPECT_TRUE(wait([&] {
    return metric(port_of(one), "reckoner_cluster_held_entities") +
                   metric(port_of(two), "reckoner_cluster_held_entities") ==
               20.0 &&
           metric(port_of(two), "reckoner_cluster_held_cells") > 0.0 &&
           metric(port_of(gate), "reckoner_entities") == 20.0;
  })) << http_get(port_of(two), "/metrics").body
      << http_get(port_of(gate), "/metrics").body;
  EXPECT_EQ(metric(port_of(gate), "reckoner_cluster_connected"), 1.0);
  EXPECT_EQ(metric(port_of(gate), "reckoner_cluster_refused_total{reason=\"unknown\"}"), 0.0);
  EXPECT_GT(metric(port_of(gate), "reckoner_cluster_table_reads_total"), 0.0);
  // A simulator with the user of a gateway cannot take part.
  const Finished wrong = refused(as("simulator", "gateway", "two", "wrong"));
  EXPECT_EQ(wrong.exit_code, 1) << wrong.errors;
  EXPECT_NE(wrong.errors.find("its NATS user may not write the lease of its role"), std::string::npos)
      << wrong.errors;
}

TEST_F(ClusterServer, TlsNeedsATrustedCertificate) {
  if (!is_installed("openssl")) GTEST_SKIP() << "openssl is not installed";
  const std::string cert = dir_.file("cert.pem"), key = dir_.file("key.pem");
  ASSERT_EQ(std::system(("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext "
                         "subjectAltName=IP:127.0.0.1 -keyout " +
                         key + " -out " + cert + " 2>/dev/null")
                            .c_str()),
            0);
  start_nats({"--tls", "--tlscert", cert, "--tlskey", key});
  const Finished well = refused(member("simulator", "a", {"--nats-ca", cert, "--seconds", "1"}));
  EXPECT_EQ(well.exit_code, 0) << well.errors;
  const std::string other = dir_.file("other.pem");
  ASSERT_EQ(std::system(("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -keyout " +
                         dir_.file("other.key") + " -out " + other + " 2>/dev/null")
                            .c_str()),
            0);
  EXPECT_EQ(refused(member("simulator", "b", {"--nats-ca", other, "--seconds", "1"})).exit_code, 1);
}

TEST_F(ClusterServer, WrongStartsGetClearErrors) {
  const auto says = [&](const std::vector<std::string>& arguments, const std::string& text, int code) {
    const Finished finished = refused(arguments);
    EXPECT_EQ(finished.exit_code, code) << finished.errors;
    EXPECT_NE(finished.errors.find(text), std::string::npos) << text << " is not in: " << finished.errors;
  };
  says(member("simulator", "a"), "no NATS server", 1);
  says({"--scenario", "crowd", "--insecure", "--role", "gateway"}, "--role needs --world", 2);
  says(member("spectator", "a"), "--role", 2);
  start_nats();
  Process first("reckoner-server", member("simulator", "first"));
  ASSERT_TRUE(first.wait_for("joined world w")) << first.errors();
  says(member("gateway", "first"), "a process with the name 'first' lives in the world 'w'", 1);
  says(member("simulator", "b", {"--threshold-m", "0.2"}), "has other archetypes than this process", 1);
  says(member("simulator", "c", {"--cell-m", "10"}), "has a cell size of 100, this process 10", 1);
  says(member("simulator", "d", {"--seed", "9"}), "all simulators need one source", 1);
  says(member("simulator", "e", {"--nats-replicas", "3"}), "is not a NATS cluster", 1);
}

}  // namespace
}  // namespace reckoner::test
