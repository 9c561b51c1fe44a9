// SPDX-License-Identifier: MIT
// The effect of reckoner-server's options: every limit of the libraries has an option, and the option sets
// that limit. The tables in the documents are compared with the descriptions of the settings.
#include "client/src/client_settings.hpp"
#include "net/src/config/archetype_settings.hpp"
#include "net/src/transport/limits/limit_settings.hpp"
#include "process.hpp"
#include "programs/common/options/blend_options.hpp"
#include "programs/common/options/command_line_error.hpp"
#include "programs/server/options.hpp"
#include "server/src/server_settings.hpp"
#include "tests/support/locations.hpp"

#include <filesystem>
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

// Checks that every member of TransportLimits has a row. All members have 8 bytes.
static_assert(sizeof(std::size_t) != 8 || sizeof(TransportLimits) == 8 * kTransportLimitSettings.size());

// The values of all limits, in the order of the tables.
std::vector<double> values(const ServerOptions& o) {
  std::vector<double> all;
  for (const auto& row : kTransportLimitSettings)
    all.push_back(row.get(o.limits));
  for (const auto& row : kSecuritySettings)
    all.push_back(row.get(o.security.limits));
  return all;
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& row : kTransportLimitSettings)
    all.push_back("--" + std::string(row.option));
  for (const auto& row : kSecuritySettings)
    all.push_back("--" + std::string(row.option));
  return all;
}

TEST(ServerOptions, EveryLimitHasItsOwnOption) {
  const std::vector<double> defaults = values({});
  const std::vector<std::string> options_of = names();
  ASSERT_EQ(defaults.size(), 16u);
  for (std::size_t i = 0; i < defaults.size(); ++i) {
    ServerOptions options;
    const double wanted = defaults[i] - 1.0;
    const auto text = std::to_string(static_cast<std::int64_t>(wanted));
    EXPECT_EQ(parsed(options, {options_of[i], text}), "");
    const std::vector<double> got = values(options);
    for (std::size_t k = 0; k < got.size(); ++k)
      EXPECT_EQ(got[k], k == i ? wanted : defaults[k]) << options_of[i] << " changed " << options_of[k];
  }
}

TEST(ServerOptions, LimitsAreWithinTheirRanges) {
  for (const std::string& name : names()) {
    for (const char* value : {"-1", "1e30", "1e12", "many"}) {
      ServerOptions options;
      const std::string wrong = parsed(options, {name, value});
      EXPECT_NE(wrong.find(name), std::string::npos) << name << " " << value << ": " << wrong;
    }
  }
}

TEST(ServerOptions, ErrorsNameTheOptionItsValueAndItsRange) {
  ServerOptions options;
  EXPECT_EQ(without_repeated_name(parsed(options, {"--tick-rate", "0.5"})),
            "--tick-rate is 0.5; it must be from 1 to 1000 Hz");
  EXPECT_EQ(without_repeated_name(parsed(options, {"--tick-rate", "nan"})),
            "--tick-rate is nan; it must be from 1 to 1000 Hz");
  EXPECT_EQ(without_repeated_name(parsed(options, {"--fixed-rate", "-1"})),
            "--fixed-rate is -1; it must be from 0.001 to 1000 Hz, or 0 (the thresholds decide)");
}

// An option sets the value that the server then uses.
TEST(ServerOptions, SettingsReachTheServer) {
  ServerOptions options;
  EXPECT_EQ(parsed(options, {"--tick-rate", "30", "--max-clients", "5", "--threads", "2", "--threshold-m",
                             "0.5", "--threshold-rad", "0.25", "--updates-per-second", "4"}),
            "");
  const ServerConfig config = server_config(options, 7.0);
  EXPECT_EQ(config.tick_rate_hz, 30.0);
  EXPECT_EQ(config.max_clients, 5u);
  EXPECT_EQ(config.threads, 2u);
  EXPECT_EQ(config.updates_per_second, 4.0);
  EXPECT_EQ(config.epoch_s, 7.0);
  for (const Archetype& archetype : config.archetypes) {
    EXPECT_EQ(archetype.threshold_m, 0.5);
    EXPECT_EQ(archetype.threshold_rad, 0.25);
  }
}

// Expects a row of the document for every row of the table of settings.
template <class Table, class Config>
void expect_in_reference(const std::string& document, const Table& table, const Config& defaults) {
  for (const auto& row : table) {
    const std::string option = row.option.empty() ? "" : "`" + std::string(row.option) + "`";
    const std::string unit = row.unit.empty() ? "" : " " + std::string(row.unit);
    const std::string line = "| `" + std::string(row.name) + "` | " + option + " | " +
                             number_text(row.get(defaults)) + " | " + range_text(row) + unit + " | " +
                             meaning_text(row) + " |\n";
    EXPECT_NE(document.find(line), std::string::npos) << "docs/REFERENCE.md should contain:\n" << line;
  }
}

template <class Table, class Config>
void expect_in_operations(const std::string& document, const Table& table, const Config& defaults) {
  const std::string section = "limits.";
  for (const auto& row : table) {
    ASSERT_TRUE(row.option.starts_with(section)) << row.name;
    const std::string line = "| `" + std::string(row.option.substr(section.size())) + "` | " +
                             number_text(row.get(defaults)) + " | " + range_text(row) + " | " +
                             meaning_text(row) + " |\n";
    EXPECT_NE(document.find(line), std::string::npos) << "docs/OPERATIONS.md should contain:\n" << line;
  }
}

TEST(SettingsDocuments, TablesMatchTheDescriptions) {
  const std::filesystem::path documents = test::source_dir() / "docs";
  const std::string reference = test::read_file(documents / "REFERENCE.md");
  expect_in_reference(reference, kServerSettings, ServerConfig{});
  expect_in_reference(reference, kClientSettings, ClientConfig{});
  expect_in_reference(reference, kPlayoutSettings, PlayoutConfig{});
  expect_in_reference(reference, program::kBlendSettings, program::BlendOptions{});
  expect_in_reference(reference, kArchetypeSettings, Archetype{});
  expect_in_reference(reference, kOwnershipSettings, OwnershipRules{});
  const std::string operations = test::read_file(documents / "OPERATIONS.md");
  expect_in_operations(operations, kTransportLimitSettings, TransportLimits{});
  expect_in_operations(operations, kSecuritySettings, ServerSecurity{.key = SecretKey{}});
}

}  // namespace
}  // namespace reckoner::program
