// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include <reckoner/net/enet_transport.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner::program {

/// Tells Reckoner's programs apart from games that share a key with them.
inline constexpr std::uint64_t kGameNumber = 0x7265636B6F6E6572;  // "reckoner"

/// --key FILE or --insecure, of which a server must have one.
struct ServerSecurityOptions {
  std::string key_path;
  bool insecure = false;
};
void add_security_options(CLI::App& app, ServerSecurityOptions& options);
/// Nothing inside the result: insecure, as asked for. Fails if neither was given, or there is no key in the
/// file.
[[nodiscard]] Result<std::optional<ServerSecurity>> open_security(const ServerSecurityOptions& options);

/// --token FILE or --insecure, of which a client must have one.
struct ClientSecurityOptions {
  std::string token_path;
  bool insecure = false;
};
void add_security_options(CLI::App& app, ClientSecurityOptions& options);
[[nodiscard]] Result<std::optional<ClientSecurity>> open_security(const ClientSecurityOptions& options);

/// Key and token files, readable by their owner alone. Reading fails if there is none; so does writing over
/// one that is there.
[[nodiscard]] Result<SecretKey> read_key_file(const std::string& path);
[[nodiscard]] Result<ConnectToken> read_token_file(const std::string& path);
[[nodiscard]] std::optional<Error> write_secret_file(const std::string& path, std::string_view content);

[[nodiscard]] std::optional<Error> write_token_file(const std::string& path, const ConnectToken& token);

/// Issues a token that is good for so long from now on; the grant's own expiry is not looked at.
[[nodiscard]] ConnectToken issue_now(ConnectGrant grant, const SecretKey& key, double seconds,
                                     std::uint64_t game = kGameNumber);

/// IPv4 address of HOST:PORT.
[[nodiscard]] Result<ServerAddress> resolve(const std::string& host_port);

}  // namespace reckoner::program
