// SPDX-License-Identifier: MIT
// reckoner-token: creates keys, and issues tokens like the backend of a game.
#include "programs/common/options/options.hpp"
#include "programs/common/security.hpp"
#include "programs/common/system/private_file.hpp"
#include "programs/common/system/standard_streams.hpp"

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <reckoner/net/connect_token.hpp>

namespace {

using namespace reckoner;

constexpr const char* kName = "reckoner-token";

struct IssueOptions {
  std::string key_path;
  std::string out_path;
  std::vector<std::string> servers;
  std::optional<std::uint64_t> client_id;
  std::uint64_t game = program::kGameNumber;
  double seconds = 60.0;
  double renewable_s = static_cast<double>(ConnectGrant::kRenewableS);
  std::string user_data;
};

int make_key(const std::string& path) {
  if (const auto error = program::write_private_file(path, SecretKey::make().text() + "\n"))
    return program::fail(kName, error->message, program::kFailed);
  fmt::print("wrote {}: copy it to the servers and to the issuer of tokens, and keep it secret\n", path);
  return program::kOk;
}

// A random number for the client id, so that by default two tokens belong to two different clients.
std::uint64_t some_number() {
  std::uint64_t number = 0;
  const SecretKey drawn = SecretKey::make();
  std::memcpy(&number, drawn.bytes().data(), sizeof number);
  return number;
}

int issue(const IssueOptions& options) {
  const auto key = program::read_key_file(options.key_path);
  if (!key) return program::fail(kName, key.error());
  ConnectGrant grant{.client_id = options.client_id.value_or(some_number())};
  for (const std::string& server : options.servers) {
    const auto address = program::resolve(server);
    if (!address) return program::fail(kName, address.error());
    grant.servers.insert(grant.servers.end(), address->begin(), address->end());
  }
  if (options.user_data.size() > ConnectGrant::kUserBytes)
    return program::fail(kName, "the user data is longer than 256 bytes");
  for (std::size_t i = 0; i < options.user_data.size(); ++i)
    grant.user_data[i] = static_cast<std::byte>(options.user_data[i]);
  grant.renewable_until_s = program::unix_after(options.seconds + options.renewable_s);
  const auto token = program::issue_now(grant, *key, options.seconds, options.game);
  if (!token) return program::fail(kName, token.error());
  if (const auto error = program::write_token_file(options.out_path, *token))
    return program::fail(kName, error->message, program::kFailed);
  fmt::print("wrote {}: valid once, for {:g} s, for client {}\n", options.out_path, options.seconds,
             grant.client_id);
  return program::kOk;
}

}  // namespace

int main(int argc, char** argv) {
  program::use_utf8();
  program::let_large_files_fail();
  CLI::App app("Makes the keys and tokens with which clients join reckoner-server.", kName);
  app.require_subcommand(1);
  std::string key_path;
  auto* key = app.add_subcommand("key", "make a key");
  key->add_option("FILE", key_path, "file to write the key to; must not exist yet")->required();

  IssueOptions options;
  auto* token = app.add_subcommand("issue", "issue a token");
  token->add_option("FILE", options.out_path, "file to write the token to; must not exist yet")->required();
  token->add_option("--key", options.key_path, "file with the key")->required();
  token
      ->add_option("--server", options.servers,
                   "HOST:PORT of a server that accepts the token; several may be given")
      ->required()
      ->expected(1, static_cast<int>(ConnectGrant::kMaxServers));
  token->add_option(
      "--client-id", options.client_id,
      "the client's number; a client that joins replaces a connected one with an equal number (default: "
      "random)");
  token->add_option("--seconds", options.seconds, "how long the token is valid, s")
      ->check(CLI::Range(1.0, 1e7))
      ->capture_default_str();
  token
      ->add_option("--renewable", options.renewable_s,
                   "how long after that the client may reconnect with tickets from the servers, s")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  token->add_option("--user-data", options.user_data, "text for the server's game, at most 256 bytes");
  token->add_option("--game", options.game, "number of the game (default: that of Reckoner's programs)");
  app.footer(
      "Example:\n"
      "  reckoner-token key game.key\n"
      "  reckoner-token issue alice.token --key game.key --server 127.0.0.1:26000 --client-id 7\n"
      "  reckoner-server --scenario crowd --port 26000 --key game.key\n"
      "  reckoner-client --connect 127.0.0.1:26000 --token alice.token --seconds 10");
  if (const auto code = program::parse(app, argc, argv)) return *code;
  if (key->parsed()) return make_key(key_path);
  return issue(options);
}
