// SPDX-License-Identifier: MIT
#include "net/src/secure/handshake.hpp"
#include "net/src/secure/keys.hpp"
#include "net/src/transport/platform.hpp"
#include "net/src/wire/byte_stream.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>

namespace reckoner {
namespace {

constexpr std::string_view kMagic = "RECKONER TOKEN 4";
constexpr std::size_t kPlainBytes = ConnectToken::kSealedBytes - crypto_aead_xchacha20poly1305_ietf_ABYTES;
static_assert(3 * 8 + 4 + std::tuple_size_v<secure::LoginId> + 2 * SecretKey::kBytes +
                  ConnectGrant::kUserBytes + 1 + ConnectGrant::kMaxServerBytes <=
              kPlainBytes);
static_assert(kMagic.size() + 8 + ConnectToken::kNonceBytes + ConnectToken::kSealedBytes +
                  2 * SecretKey::kBytes + 1 + ConnectGrant::kMaxServerBytes <=
              ConnectToken::kBytes);
static_assert(crypto_aead_xchacha20poly1305_ietf_NPUBBYTES == ConnectToken::kNonceBytes);
static_assert(crypto_aead_xchacha20poly1305_ietf_KEYBYTES == SecretKey::kBytes);

std::span<const std::byte> magic() {
  return std::as_bytes(std::span(kMagic));
}

// The additional data that a sealed grant is bound to.
std::array<std::byte, 32> bound_to(std::uint64_t expires_s, std::uint64_t game) {
  std::array<std::byte, 32> bytes;
  wire::ByteWriter(bytes).bytes(magic()).number(game).number(expires_s);
  return bytes;
}

// Before each address: its family.
constexpr std::uint8_t kIpv4 = 4, kIpv6 = 6;

constexpr std::size_t written_size(const SocketAddress& server) {
  return (server.host.is_ipv4() ? 4 : 16) + 1 + 2;
}

void write_servers(wire::ByteWriter& writer, std::span<const SocketAddress> servers) {
  writer.number(static_cast<std::uint8_t>(servers.size()));
  for (const SocketAddress& server : servers) {
    if (server.host.is_ipv4()) {
      writer.number(kIpv4).number(server.host.ipv4());
    } else {
      writer.number(kIpv6).number(server.host.low()).number(server.host.high());
    }
    writer.number(server.port);
  }
}

// What is wrong with the addresses for a token. Nullopt: nothing.
std::optional<Error> server_list_fault(std::span<const SocketAddress> servers) {
  const std::string limits = "at most " + std::to_string(ConnectGrant::kMaxServers) + " servers in " +
                             std::to_string(ConnectGrant::kMaxServerBytes) +
                             " bytes (7 for an IPv4 address, 19 for an IPv6 address)";
  std::size_t bytes = 0;
  for (const SocketAddress& server : servers) {
    bytes += written_size(server);
    if (server.host.is_any() || server.host.is_multicast())
      return Error{"a token cannot name " + host_text(server) + ", which is not the address of one host"};
    if (server.port == 0) return Error{"a token cannot name port 0 of " + host_text(server)};
    if (server.host.is_link_local() || server.scope != 0)
      return Error{"a token cannot name the link-local address " + host_text(server)};
  }
  if (servers.size() > ConnectGrant::kMaxServers || bytes > ConnectGrant::kMaxServerBytes)
    return Error{"a token names " + limits + ", not " + std::to_string(servers.size()) + " servers in " +
                 std::to_string(bytes) + " bytes"};
  return std::nullopt;
}

// Nullopt if an address has an unknown family, or if no token can name these servers.
std::optional<std::vector<SocketAddress>> read_servers(wire::ByteReader& reader) {
  const auto count = reader.number<std::uint8_t>();
  if (count > ConnectGrant::kMaxServers) return std::nullopt;
  std::vector<SocketAddress> servers(count);
  for (SocketAddress& server : servers) {
    const auto family = reader.number<std::uint8_t>();
    if (family == kIpv4) {
      server.host = reader.number<std::uint32_t>();
    } else if (family == kIpv6) {
      const auto low = reader.number<std::uint64_t>(), high = reader.number<std::uint64_t>();
      server.host = IpAddress(high, low);
      if (server.host.is_ipv4()) return std::nullopt;  // has a shorter form
    } else {
      return std::nullopt;
    }
    server.port = reader.number<std::uint16_t>();
  }
  if (server_list_fault(servers)) return std::nullopt;
  return servers;
}

}  // namespace

namespace secure {

std::array<std::byte, ConnectToken::kSealedBytes> seal_grant(
    const OpenedGrant& grant, const std::array<std::byte, ConnectToken::kNonceBytes>& nonce,
    const SecretKey& key, std::uint64_t game) {
  std::array<std::byte, kPlainBytes> plain;
  wire::ByteWriter writer(plain);
  writer.number(grant.grant.client_id).number(grant.grant.renewable_until_s);
  writer.number(grant.grant.issued_ms);
  writer.number(grant.login.generation).bytes(grant.login.generation == 0 ? LoginId{} : grant.login.id);
  writer.bytes(grant.to_server.bytes()).bytes(grant.to_client.bytes());
  writer.bytes(grant.grant.user_data);
  write_servers(writer, grant.grant.servers);
  writer.pad(kPlainBytes);
  std::array<std::byte, ConnectToken::kSealedBytes> sealed;
  const auto bound = bound_to(grant.grant.expires_s, game);
  crypto_aead_xchacha20poly1305_ietf_encrypt(raw(sealed), nullptr, raw(plain), plain.size(), raw(bound),
                                             bound.size(), nullptr, raw(nonce), raw(key.bytes()));
  sodium_memzero(plain.data(), plain.size());
  return sealed;
}

std::optional<OpenedGrant> open_grant(const std::array<std::byte, ConnectToken::kSealedBytes>& sealed,
                                      const std::array<std::byte, ConnectToken::kNonceBytes>& nonce,
                                      std::uint64_t expires_s, const SecretKey& key, std::uint64_t game) {
  std::array<std::byte, kPlainBytes> plain;
  const auto bound = bound_to(expires_s, game);
  if (crypto_aead_xchacha20poly1305_ietf_decrypt(raw(plain), nullptr, nullptr, raw(sealed), sealed.size(),
                                                 raw(bound), bound.size(), raw(nonce),
                                                 raw(key.bytes())) != 0) {
    return std::nullopt;
  }
  wire::ByteReader reader(plain);
  OpenedGrant opened;
  opened.grant.expires_s = expires_s;
  opened.grant.client_id = reader.number<std::uint64_t>();
  opened.grant.renewable_until_s = reader.number<std::uint64_t>();
  opened.grant.issued_ms = reader.number<std::uint64_t>();
  opened.login.generation = reader.number<std::uint32_t>();
  opened.login.id = reader.bytes<std::tuple_size_v<LoginId>>();
  if (opened.login.generation == 0)
    std::copy_n(nonce.begin(), opened.login.id.size(), opened.login.id.begin());
  opened.to_server = read_key(reader);
  opened.to_client = read_key(reader);
  opened.grant.user_data = reader.bytes<ConnectGrant::kUserBytes>();
  auto servers = read_servers(reader);
  sodium_memzero(plain.data(), plain.size());
  if (!servers || servers->empty() || reader.failed()) return std::nullopt;
  opened.grant.servers = std::move(*servers);
  return opened;
}

ConnectToken issue_ticket(const ConnectGrant& grant, const Login& login, const SecretKey& key,
                          std::uint64_t game) {
  assert(!grant.servers.empty() && grant.servers.size() <= ConnectGrant::kMaxServers);
  ConnectToken token;
  token.expires_s = grant.expires_s;
  fill_random(token.nonce);
  token.servers = grant.servers;
  token.to_server = SecretKey::make();
  token.to_client = SecretKey::make();
  token.sealed = seal_grant({grant, token.to_server, token.to_client, login}, token.nonce, key, game);
  return token;
}

}  // namespace secure

Result<ConnectToken> issue_token(const ConnectGrant& grant, const SecretKey& key, std::uint64_t game) {
  if (grant.servers.empty()) return Error{"a token must name a server"};
  if (const auto fault = server_list_fault(grant.servers)) return *fault;
  ConnectGrant granted = grant;
  if (granted.issued_ms == 0) granted.issued_ms = unix_milliseconds();
  if (granted.renewable_until_s == 0) {
    constexpr std::uint64_t kForEver = std::numeric_limits<std::uint64_t>::max();
    granted.renewable_until_s = std::min(grant.expires_s, kForEver - ConnectGrant::kRenewableS);
    granted.renewable_until_s += ConnectGrant::kRenewableS;
  }
  return secure::issue_ticket(granted, {}, key, game);
}

Result<std::array<std::byte, ConnectToken::kBytes>> write_token(const ConnectToken& token) {
  if (const auto fault = server_list_fault(token.servers)) return *fault;
  std::array<std::byte, ConnectToken::kBytes> bytes;
  wire::ByteWriter writer(bytes);
  writer.bytes(magic()).number(token.expires_s).bytes(token.nonce).bytes(token.sealed);
  writer.bytes(token.to_server.bytes()).bytes(token.to_client.bytes());
  write_servers(writer, token.servers);
  writer.pad(bytes.size());
  return bytes;
}

std::optional<ConnectToken> read_token(std::span<const std::byte> bytes) {
  if (bytes.size() != ConnectToken::kBytes) return std::nullopt;
  if (!std::ranges::equal(bytes.first(kMagic.size()), magic())) return std::nullopt;
  wire::ByteReader reader(bytes.subspan(kMagic.size()));
  ConnectToken token;
  token.expires_s = reader.number<std::uint64_t>();
  token.nonce = reader.bytes<ConnectToken::kNonceBytes>();
  token.sealed = reader.bytes<ConnectToken::kSealedBytes>();
  token.to_server = secure::read_key(reader);
  token.to_client = secure::read_key(reader);
  auto servers = read_servers(reader);
  if (!servers || reader.failed()) return std::nullopt;
  token.servers = std::move(*servers);
  return token;
}

}  // namespace reckoner
