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

/// The game number of Reckoner's programs. It distinguishes the programs from games that use the same key.
inline constexpr std::uint64_t kGameNumber = 0x7265636B6F6E6572;  // "reckoner"

/// The options --key FILE, --insecure and --address of a server. A server needs either --key or --insecure.
struct ServerSecurityOptions {
  std::string key_path;
  bool insecure = false;
  std::vector<std::string> addresses;         ///< HOST, HOST:PORT, [IPV6]:PORT or "any"
  ServerSecurity limits{.key = SecretKey{}};  ///< only the members that are numbers are used
};
void add_security_options(CLI::App& app, ServerSecurityOptions& options);
/// The security settings of a server that listens on `host`. If `host` is empty, the server listens on all
/// addresses of this machine. A token may then name any of these addresses, unless --address is given. Fails
/// if there is neither a key nor --insecure, if the file contains no key, or if an address is invalid.
[[nodiscard]] Result<OrInsecure<ServerSecurity>> open_security(const ServerSecurityOptions& options,
                                                               const std::string& host);

/// The addresses as HOST:PORT with commas between them. `port` replaces the port of an address whose port is
/// 0.
[[nodiscard]] std::string text_of(std::span<const SocketAddress> addresses, std::uint16_t port);

/// The options --token FILE and --insecure of a client. A client needs one of them.
struct ClientSecurityOptions {
  std::string token_path;
  bool insecure = false;
};
void add_security_options(CLI::App& app, ClientSecurityOptions& options);
[[nodiscard]] Result<OrInsecure<ClientSecurity>> open_security(const ClientSecurityOptions& options);

/// These functions read and write key files and token files. A written file is readable only by its owner.
/// Reading fails if the file does not exist. Writing fails if the file exists.
[[nodiscard]] Result<SecretKey> read_key_file(const std::string& path);
[[nodiscard]] Result<ConnectToken> read_token_file(const std::string& path);

[[nodiscard]] std::optional<Error> write_token_file(const std::string& path, const ConnectToken& token);

/// The Unix time that is `seconds` later than now.
[[nodiscard]] std::uint64_t unix_after(double seconds);

/// Issues a token that expires `seconds` from now. Ignores the expiry time in `grant`.
[[nodiscard]] Result<ConnectToken> issue_now(ConnectGrant grant, const SecretKey& key, double seconds,
                                             std::uint64_t game = kGameNumber);

/// The addresses of HOST:PORT or [IPV6]:PORT, at least one. A name may have IPv6 and IPv4 addresses.
[[nodiscard]] Result<std::vector<SocketAddress>> resolve(const std::string& host_port);

}  // namespace reckoner::program
