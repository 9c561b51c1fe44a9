// SPDX-License-Identifier: MIT
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <span>
#include <string_view>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <unistd.h>

#include <reckoner/program/options.hpp>
#include <reckoner/program/security.hpp>

namespace reckoner::program {
namespace {

constexpr std::size_t kMostBytes = 4096;  // of a key or token file

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{"could not read " + path};
  std::string content(kMostBytes, '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<std::size_t>(file.gcount()));
  return content;
}

}  // namespace

void add_security_options(CLI::App& app, ServerSecurityOptions& options) {
  auto* key = app.add_option("--key", options.key_path,
                             "file with the key of those who issue tokens (reckoner-token key)");
  app.add_flag("--insecure", options.insecure, "let in anyone, unencrypted: for a LAN or a test")
      ->excludes(key);
}

void add_security_options(CLI::App& app, ClientSecurityOptions& options) {
  auto* token = app.add_option("--token", options.token_path,
                               "file with the token to join with (reckoner-token issue); good once");
  app.add_flag("--insecure", options.insecure, "join without a token, unencrypted: for a LAN or a test")
      ->excludes(token);
}

Result<std::optional<ServerSecurity>> open_security(const ServerSecurityOptions& options) {
  if (options.insecure) return std::optional<ServerSecurity>{};
  if (options.key_path.empty()) {
    return Error{
        "who may join? --key FILE for holders of a token (see reckoner-token --help), or --insecure "
        "for anyone"};
  }
  auto key = read_key_file(options.key_path);
  if (!key) return Error{key.error()};
  return std::optional{ServerSecurity{.key = *key, .game = kGameNumber}};
}

Result<std::optional<ClientSecurity>> open_security(const ClientSecurityOptions& options) {
  if (options.insecure) return std::optional<ClientSecurity>{};
  if (options.token_path.empty()) {
    return Error{"how to join? --token FILE (see reckoner-token --help), or --insecure where the server is"};
  }
  auto token = read_token_file(options.token_path);
  if (!token) return Error{token.error()};
  return std::optional{ClientSecurity{.token = *token, .game = kGameNumber}};
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

std::optional<Error> write_secret_file(const std::string& path, std::string_view content) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0) return Error{"could not create " + path + ": " + std::strerror(errno)};
  const ssize_t written = write(file, content.data(), content.size());
  const bool closed = close(file) == 0;
  if (written == static_cast<ssize_t>(content.size()) && closed) return std::nullopt;
  (void)unlink(path.c_str());
  return Error{"could not write all of " + path};
}

std::optional<Error> write_token_file(const std::string& path, const ConnectToken& token) {
  const auto bytes = write_token(token);
  return write_secret_file(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

ConnectToken issue_now(ConnectGrant grant, const SecretKey& key, double seconds, std::uint64_t game) {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  grant.expires_s = static_cast<std::uint64_t>(now.count() + seconds);
  return issue_token(grant, key, game);
}

Result<ServerAddress> resolve(const std::string& host_port) {
  const auto parsed = parse_host_port(host_port);
  if (!parsed) return Error{parsed.error()};
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(parsed->host.c_str(), nullptr, &hints, &found) != 0 || found == nullptr) {
    return Error{"unknown host '" + parsed->host + "'"};
  }
  sockaddr_in address{};
  std::memcpy(&address, found->ai_addr, sizeof address);
  freeaddrinfo(found);
  return ServerAddress{ntohl(address.sin_addr.s_addr), parsed->port};
}

}  // namespace reckoner::program
