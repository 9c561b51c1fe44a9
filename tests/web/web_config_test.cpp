// SPDX-License-Identifier: MIT
#include "tests/programs/process.hpp"
#include "tests/support/locations.hpp"
#include "web/src/listener/web_settings.hpp"

#include <string>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

std::string fault(const WebConfig& config) {
  const auto error = find_invalid_setting(config);
  return error ? error->message : "";
}

const ServerSecurity& secure() {
  static const ServerSecurity security{.key = SecretKey::make(), .any_server = true};
  return security;
}

TEST(WebConfig, DefaultsAreValidAndErrorsNameTheSetting) {
  EXPECT_EQ(fault({.security = Insecure{}}), "");
  EXPECT_NE(fault({.security = Insecure{}, .max_peers = 0}).find("max_peers is 0"), std::string::npos);
  EXPECT_NE(fault({.security = Insecure{}, .join_s = 0.0}).find("join_s is 0"), std::string::npos);
  EXPECT_NE(fault({.security = Insecure{}, .origins = {"https://game.example/page"}}).find("origins: "),
            std::string::npos);
  EXPECT_NE(fault({.security = Insecure{}, .key = "key.pem"}).find("without a certificate"),
            std::string::npos);
  EXPECT_NE(fault({.security = Insecure{}, .content_policy = "x\r\nset-cookie: a=b"}).find("content_policy"),
            std::string::npos);
  WebConfig silent{.security = Insecure{}};
  silent.limits.silence_s = 0.0;
  EXPECT_NE(fault(silent).find("silence_s"), std::string::npos);
}

TEST(WebConfig, AddressOfDataChannelsIsOneIpAddressOrThatOfTheListener) {
  for (const char* address : {"game.example", "0.0.0.0", "::", "224.0.0.1", "192.0.2.7:4000"}) {
    EXPECT_NE(fault({.security = Insecure{}, .channel_address = address}).find("channel_address"),
              std::string::npos)
        << address;
  }
  for (const char* host : {"", "0.0.0.0", "localhost", "127.0.0.1"})
    EXPECT_EQ(fault({.host = host, .security = Insecure{}}), "") << host;
  EXPECT_EQ(fault({.security = Insecure{}, .channel_public_port = 4000, .channel_address = "192.0.2.7"}), "");
}

TEST(WebConfig, RefusesTokensWithoutTls) {
  constexpr const char* kUnencrypted = "tokens would travel unencrypted";
  EXPECT_NE(fault({.security = secure()}).find(kUnencrypted), std::string::npos) << "all addresses";
  EXPECT_NE(fault({.host = "192.0.2.7", .security = secure()}).find(kUnencrypted), std::string::npos);
  EXPECT_NE(fault({.host = "127.0.0.1.example", .security = secure()}).find(kUnencrypted), std::string::npos);
  for (const char* host : {"127.0.0.1", "127.9.9.9", "::1", "[::1]", "localhost"})
    EXPECT_EQ(fault({.host = host, .security = secure()}), "") << host;
  EXPECT_EQ(fault({.security = secure(), .certificate = "chain.pem"}), "");
  EXPECT_EQ(fault({.security = secure(), .tls_ends_at_proxy = true}), "");
  EXPECT_EQ(fault({.security = Insecure{}}), "") << "there are no tokens";
}

TEST(WebConfig, ReferenceHasEverySetting) {
  const std::string document = read_file(source_dir() / "docs" / "REFERENCE.md");
  const WebConfig defaults{.security = Insecure{}};
  for (const auto& row : kWebSettings) {
    const std::string line = "| `" + std::string(row.name) + "` |  | " + number_text(row.get(defaults)) +
                             " | " + range_text(row) + (row.unit.empty() ? "" : " ") + std::string(row.unit) +
                             " | " + meaning_text(row) + " |\n";
    EXPECT_NE(document.find(line), std::string::npos) << "docs/REFERENCE.md should contain:\n" << line;
  }
}

}  // namespace
}  // namespace reckoner::test
