// SPDX-License-Identifier: MIT
// Connect tokens, their sealed contents, and key files.
#include "fixed_random.hpp"
#include "net/src/secure/handshake.hpp"
#include "net/src/secure/keys.hpp"
#include "net/src/wire/byte_stream.hpp"
#include "target.hpp"

#include <array>
#include <functional>
#include <optional>

namespace reckoner::fuzz {
namespace {

constexpr std::uint64_t kGame = 5;
constexpr std::uint64_t kExpires = 1'800'000'000;

SecretKey key() {
  std::array<std::byte, SecretKey::kBytes> bytes{};
  bytes.fill(std::byte{7});
  return SecretKey(bytes);
}

void read_any_token(std::span<const std::byte> bytes) {
  const auto token = read_token(bytes);
  if (!token) return;
  // A ticket names no servers.
  check(token->servers.size() <= ConnectGrant::kMaxServers, "a token names not too many servers");
  const auto again = *write_token(*token);
  const auto second = read_token(again);
  check(second && *write_token(*second) == again, "a token is written as it was read");
}

// A backend with the key may have sealed anything.
void open_any_grant(std::span<const std::byte> plain) {
  constexpr std::size_t kPlain = ConnectToken::kSealedBytes - crypto_aead_xchacha20poly1305_ietf_ABYTES;
  std::array<std::byte, kPlain> padded{};
  std::copy_n(plain.begin(), std::min(plain.size(), kPlain), padded.begin());
  std::array<std::byte, 32> bound;
  constexpr std::string_view kMagic = "RECKONER TOKEN 4";
  wire::ByteWriter(bound).bytes(std::as_bytes(std::span(kMagic))).number(kGame).number(kExpires);
  const std::array<std::byte, ConnectToken::kNonceBytes> nonce{};
  std::array<std::byte, ConnectToken::kSealedBytes> sealed;
  crypto_aead_xchacha20poly1305_ietf_encrypt(secure::raw(sealed), nullptr, secure::raw(padded), padded.size(),
                                             secure::raw(bound), bound.size(), nullptr, secure::raw(nonce),
                                             secure::raw(key().bytes()));
  const auto opened = secure::open_grant(sealed, nonce, kExpires, key(), kGame);
  check(!secure::open_grant(sealed, nonce, kExpires + 1, key(), kGame), "a grant is bound to its expiry");
  check(!secure::open_grant(sealed, nonce, kExpires, key(), kGame + 1), "a grant is bound to its game");
  if (!opened) return;
  const auto again = secure::seal_grant(*opened, nonce, key(), kGame);
  const auto second = secure::open_grant(again, nonce, kExpires, key(), kGame);
  check(second && second->grant.client_id == opened->grant.client_id &&
            second->grant.servers == opened->grant.servers &&
            second->grant.renewable_until_s == opened->grant.renewable_until_s &&
            second->grant.issued_ms == opened->grant.issued_ms && second->login.id == opened->login.id &&
            second->login.generation == opened->login.generation,
        "a grant is sealed as it was opened");
}

void read_any_key(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto read = SecretKey::from_text(text);
  if (!read) return;
  const auto second = SecretKey::from_text(read->text());
  check(second && second->bytes() == read->bytes(), "a key is written as it was read");
}

// Servers in turn with IPv4 and IPv6 addresses, as `ipv6` chooses, until no more fit into a token.
ConnectToken some_token(std::size_t most, const std::function<bool()>& ipv6) {
  ConnectGrant grant{.client_id = 7, .expires_s = kExpires};
  grant.issued_ms = (kExpires - 60) * 1000;
  std::optional<ConnectToken> token;
  for (std::size_t i = 0; i < most; ++i) {
    const IpAddress host = ipv6() ? IpAddress(0x2001'0db8'0000'0000, i + 1) : IpAddress(0x7F000001);
    grant.servers.push_back({host, static_cast<std::uint16_t>(4000 + i)});
    const auto longer = issue_token(grant, key(), kGame);
    if (!longer) break;
    token = *longer;
  }
  return *token;
}

}  // namespace

void run(std::span<const std::byte> input) {
  fix_random();
  if (input.empty()) return;
  const auto rest = input.subspan(1);
  switch (std::to_integer<unsigned>(input.front()) % 4) {
    case 0:
      return read_any_token(rest);
    case 1:
      return open_any_grant(rest);
    case 2:
      return read_any_key(rest);
    default: {
      Choices choices{rest};
      const std::size_t most = choices.up_to(31) + 1;
      const auto good = *write_token(some_token(most, [&] { return choices.flag(); }));
      Bytes bytes(good.begin(), good.end());
      read_any_token(bytes);
      if (damage(choices, bytes)) read_any_token(bytes);
    }
  }
}

std::vector<Bytes> seeds() {
  fix_random();
  std::vector<Bytes> out;
  bool last = false;
  const std::function<bool()> families[] = {[] { return false; }, [] { return true; },
                                            [&] { return last = !last; }};
  for (const std::size_t servers : {1, 32}) {
    for (const auto& ipv6 : families)
      out.push_back(marked(std::byte{0}, *write_token(some_token(servers, ipv6))));
  }
  // The sealed part as open_grant() reads it: a list of servers follows the rest. The last list of each
  // family is too long.
  const Bytes grant(8 + 8 + 8 + 4 + 16 + 64 + ConnectGrant::kUserBytes, std::byte{3});
  const auto add_grant = [&](int servers, std::byte family, std::size_t address_bytes) {
    Bytes plain = grant;
    plain.push_back(static_cast<std::byte>(servers));
    for (int i = 0; i < servers; ++i) {
      plain.push_back(family);
      plain.insert(plain.end(), address_bytes + 2, std::byte{9});
    }
    out.push_back(marked(std::byte{1}, plain));
  };
  for (const int servers : {1, 2, 32, 33})
    add_grant(servers, std::byte{4}, 4);
  for (const int servers : {1, 13, 14})
    add_grant(servers, std::byte{6}, 16);
  add_grant(1, std::byte{9}, 4);  // no family
  for (const std::string& text : {key().text(), " " + key().text() + "\n", std::string("12ab")})
    out.push_back(marked(std::byte{2}, std::as_bytes(std::span(text))));
  add_choices(out, 4, 40, std::byte{3});
  return out;
}

}  // namespace reckoner::fuzz
