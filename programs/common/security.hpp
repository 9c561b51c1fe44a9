// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <reckoner/net/network_transport.hpp>
#include <reckoner/reckoning/result.hpp>

namespace CLI {
class App;
}

namespace reckoner::program {

/// Tells Reckoner's programs apart from games that share a key with them.
inline constexpr std::uint64_t kGameNumber = 0x7265636B6F6E6572;  // "reckoner"

/// --key FILE or --insecure, of which a server must have one, and --address.
struct ServerSecurityOptions {
  std::string key_path;
  bool insecure = false;
  std::vector<std::string> addresses;         ///< HOST, HOST:PORT or "any"
  ServerSecurity limits{.key = SecretKey{}};  ///< its numbers alone
};
void add_security_options(CLI::App& app, ServerSecurityOptions& options);
/// For a server that listens on `host`; empty: on all of the machine's addresses, each of which a token may
/// then name if no --address was given. Fails if neither key nor --insecure was, there is no key in the file,
/// or an address is none.
[[nodiscard]] Result<OrInsecure<ServerSecurity>> open_security(const ServerSecurityOptions& options,
                                                               const std::string& host);

/// Addresses as HOST:PORT, one after the other; `port`: in place of 0.
[[nodiscard]] std::string text_of(std::span<const ServerAddress> addresses, std::uint16_t port);

/// --token FILE or --insecure, of which a client must have one.
struct ClientSecurityOptions {
  std::string token_path;
  bool insecure = false;
};
void add_security_options(CLI::App& app, ClientSecurityOptions& options);
[[nodiscard]] Result<OrInsecure<ClientSecurity>> open_security(const ClientSecurityOptions& options);

/// Key and token files, readable by their owner alone. Reading fails if there is none; so does writing over
/// one that is there.
[[nodiscard]] Result<SecretKey> read_key_file(const std::string& path);
[[nodiscard]] Result<ConnectToken> read_token_file(const std::string& path);
[[nodiscard]] std::optional<Error> write_secret_file(const std::string& path, std::string_view content);

[[nodiscard]] std::optional<Error> write_token_file(const std::string& path, const ConnectToken& token);

/// Seconds since 1970, so many from now.
[[nodiscard]] std::uint64_t unix_after(double seconds);

/// Issues a token that is good for so long from now on; the grant's own expiry is not looked at.
[[nodiscard]] ConnectToken issue_now(ConnectGrant grant, const SecretKey& key, double seconds,
                                     std::uint64_t game = kGameNumber);

/// IPv4 address of HOST:PORT.
[[nodiscard]] Result<ServerAddress> resolve(const std::string& host_port);

}  // namespace reckoner::program
