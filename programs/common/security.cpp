// SPDX-License-Identifier: MIT
#include "programs/common/security.hpp"

#include "programs/common/options/options.hpp"
#include "programs/common/system/interfaces.hpp"
#include "programs/common/system/private_file.hpp"

#include <chrono>
#include <fstream>
#include <span>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

namespace reckoner::program {
namespace {

constexpr std::size_t kMaxBytes = 4096;  // maximum size of a key or token file

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{"could not read " + path};
  std::string content(kMaxBytes, '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<std::size_t>(file.gcount()));
  return content;
}

constexpr std::string_view kAny = "any";

// All addresses of a host, IPv6 and IPv4, with this port.
Result<std::vector<SocketAddress>> addresses_of(const std::string& host, std::uint16_t port) {
  std::vector<SocketAddress> addresses = resolve_host(host);
  if (addresses.empty()) return Error{"unknown host '" + host + "'"};
  for (SocketAddress& address : addresses)
    address.port = port;
  return addresses;
}

std::optional<Error> add_addresses(const ServerSecurityOptions& options, const std::string& host,
                                   ServerSecurity& security) {
  for (const std::string& text : options.addresses) {
    if (text == kAny) {
      security.any_server = true;
      continue;
    }
    const auto split = split_host_port(text);
    if (!split)
      return Error{"--address: '" + text + "' is no address: expected HOST, HOST:PORT or [IPV6]:PORT"};
    const auto found = addresses_of(split->host, split->port);
    if (!found) return Error{"--address: " + found.error()};
    for (const SocketAddress& one : *found) {
      if (one.host.is_any() || one.host.is_multicast())
        return Error{"--address: '" + text + "' is not the address of one host, so no token can name it"};
    }
    security.addresses.insert(security.addresses.end(), found->begin(), found->end());
  }
  if (security.any_server && !security.addresses.empty())
    return Error{"--address any accepts tokens for any server: give no other --address"};
  if (!options.addresses.empty()) return std::nullopt;
  const auto listens = host.empty() ? std::vector<SocketAddress>(1) : resolve_host(host);
  // If the host is unknown, listen() reports it later. If it is a single address, this is the server's only
  // address.
  if (listens.empty() || !listens.front().host.is_any()) return std::nullopt;
  security.addresses = own_addresses();
  if (security.addresses.empty())
    return Error{
        "the addresses of this machine are unknown: give the one that tokens must name with --address"};
  return std::nullopt;
}

}  // namespace

void add_security_options(CLI::App& app, ServerSecurityOptions& options) {
  auto* key =
      app.add_option("--key", options.key_path,
                     "file with the key, which the issuer of tokens has, too (see reckoner-token key)");
  auto* insecure = app.add_flag("--insecure", options.insecure,
                                "admit every client, without encryption: for a LAN or a test")
                       ->excludes(key);
  app.add_option(
         "--address", options.addresses,
         "HOST, HOST:PORT or [IPV6]:PORT under which clients reach this server, also through a relay; tokens "
         "must name "
         "one of these addresses; several may be given; any: accept tokens for any server (default: --host, "
         "or all addresses of this machine)")
      ->excludes(insecure)
      ->expected(1, static_cast<int>(ConnectGrant::kMaxServers));
}

void add_security_options(CLI::App& app, ClientSecurityOptions& options) {
  auto* token = app.add_option("--token", options.token_path,
                               "file with the token for joining (see reckoner-token issue); valid once");
  app.add_flag("--insecure", options.insecure,
               "join without a token and without encryption: for a LAN or a test")
      ->excludes(token);
}

Result<OrInsecure<ServerSecurity>> open_security(const ServerSecurityOptions& options,
                                                 const std::string& host) {
  if (options.insecure) return OrInsecure<ServerSecurity>(Insecure{});
  if (options.key_path.empty()) {
    return Error{
        "it is not given who may join: use --key FILE to admit clients with a token (see reckoner-token "
        "--help), or --insecure to admit everybody"};
  }
  auto key = read_key_file(options.key_path);
  if (!key) return Error{key.error()};
  ServerSecurity security = options.limits;
  security.key = *key;
  security.game = kGameNumber;
  if (const auto wrong = add_addresses(options, host, security)) return *wrong;
  return OrInsecure(std::move(security));
}

Result<OrInsecure<ClientSecurity>> open_security(const ClientSecurityOptions& options) {
  if (options.insecure) return OrInsecure<ClientSecurity>(Insecure{});
  if (options.token_path.empty()) {
    return Error{
        "it is not given how to join: use --token FILE (see reckoner-token --help), or --insecure if the "
        "server is insecure"};
  }
  auto token = read_token_file(options.token_path);
  if (!token) return Error{token.error()};
  return OrInsecure(ClientSecurity{.token = *token, .game = kGameNumber});
}

Result<SecretKey> read_key_file(const std::string& path) {
  auto content = read_file(path);
  if (!content) return Error{content.error()};
  const auto key = SecretKey::from_text(*content);
  if (!key || !*key) return Error{"there is no key in " + path + " (64 hexadecimal digits)"};
  return *key;
}

Result<ConnectToken> read_token_file(const std::string& path) {
  auto content = read_file(path);
  if (!content) return Error{content.error()};
  const auto token = read_token(std::as_bytes(std::span(*content)));
  if (!token) return Error{"there is no token in " + path};
  return *token;
}

std::optional<Error> write_token_file(const std::string& path, const ConnectToken& token) {
  const auto bytes = write_token(token);
  if (!bytes) return Error{bytes.error()};
  return write_private_file(path, {reinterpret_cast<const char*>(bytes->data()), bytes->size()});
}

std::uint64_t unix_after(double seconds) {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(now.count() + seconds);
}

Result<ConnectToken> issue_now(ConnectGrant grant, const SecretKey& key, double seconds, std::uint64_t game) {
  grant.expires_s = unix_after(seconds);
  return issue_token(grant, key, game);
}

Result<std::vector<SocketAddress>> resolve(const std::string& host_port) {
  const auto parsed = parse_host_port(host_port);
  if (!parsed) return Error{parsed.error()};
  return addresses_of(parsed->host, parsed->port);
}

std::string text_of(std::span<const SocketAddress> addresses, std::uint16_t port) {
  std::string text;
  for (const SocketAddress& address : addresses) {
    if (!text.empty()) text += ' ';
    text += reckoner::text_of({address.host, address.port != 0 ? address.port : port, address.scope});
  }
  return text;
}

}  // namespace reckoner::program
