// SPDX-License-Identifier: MIT
#include "web/src/dtls/client_hello.hpp"

#include "net/src/wire/byte_stream.hpp"
#include "web/src/ice/big_endian.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace reckoner::web {
namespace {

constexpr std::size_t kRecordHeaderBytes = 13;
constexpr std::size_t kHandshakeHeaderBytes = 12;
constexpr std::size_t kRandomAt = 2;  // behind the version
constexpr std::size_t kRandomBytes = 32;

constexpr std::byte kHandshakeRecord{22};
constexpr std::byte kClientHello{1};
constexpr std::byte kHelloVerifyRequest{3};

/// Writes the headers of a record of epoch 0 with one whole handshake message.
void write_headers(std::span<std::byte> out, std::byte type, std::span<const std::byte, 2> version,
                   std::span<const std::byte, 6> sequence, std::uint64_t message) {
  const std::size_t body = out.size() - kRecordHeaderBytes - kHandshakeHeaderBytes;
  out[0] = kHandshakeRecord;
  std::ranges::copy(version, out.begin() + 1);
  put_big_endian(out.subspan(3, 2), 0);
  std::ranges::copy(sequence, out.begin() + 5);
  put_big_endian(out.subspan(11, 2), kHandshakeHeaderBytes + body);
  out[13] = type;
  put_big_endian(out.subspan(14, 3), body);
  put_big_endian(out.subspan(17, 2), message);
  put_big_endian(out.subspan(19, 3), 0);
  put_big_endian(out.subspan(22, 3), body);
}

/// What a hello has before its cookie: version, random and session. Nullopt if the part is too short.
struct HelloStart {
  std::span<const std::byte> random;
  std::span<const std::byte> cookie;
};
std::optional<HelloStart> read_start(const HelloFragment& first) {
  if (first.offset != 0) return std::nullopt;
  auto rest = first.part;
  if (rest.size() < kRandomAt + kRandomBytes + 1) return std::nullopt;
  HelloStart start{.random = rest.subspan(kRandomAt, kRandomBytes), .cookie = {}};
  rest = rest.subspan(kRandomAt + kRandomBytes);
  const std::size_t session = from_big_endian(rest.first(1));
  if (rest.size() < 1 + session + 1) return std::nullopt;
  rest = rest.subspan(1 + session);
  const std::size_t cookie = from_big_endian(rest.first(1));
  if (rest.size() < 1 + cookie) return std::nullopt;
  start.cookie = rest.subspan(1, cookie);
  return start;
}

std::uint64_t period_at(double now_s) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(std::floor(now_s / HelloCookies::kValidS)));
}

}  // namespace

bool is_dtls(std::span<const std::byte> datagram) {
  return !datagram.empty() && std::to_integer<unsigned>(datagram[0]) >= 20 &&
         std::to_integer<unsigned>(datagram[0]) <= 63;
}

std::optional<HelloFragment> next_hello_fragment(std::span<const std::byte>& rest) {
  if (rest.size() <= kRecordHeaderBytes + kHandshakeHeaderBytes) return std::nullopt;
  const std::size_t record = from_big_endian(rest.subspan(11, 2));
  if (record > rest.size() - kRecordHeaderBytes || record <= kHandshakeHeaderBytes) return std::nullopt;
  const bool is_version_1 = rest[1] == std::byte{0xfe};
  if (rest[0] != kHandshakeRecord || !is_version_1 || from_big_endian(rest.subspan(3, 2)) != 0)
    return std::nullopt;
  const auto message = rest.subspan(kRecordHeaderBytes, record);
  HelloFragment out;
  std::ranges::copy(rest.subspan(1, 2), out.version.begin());
  std::ranges::copy(rest.subspan(5, 6), out.sequence.begin());
  out.hello_bytes = from_big_endian(message.subspan(1, 3));
  out.message = static_cast<std::uint16_t>(from_big_endian(message.subspan(4, 2)));
  out.offset = from_big_endian(message.subspan(6, 3));
  out.part = message.subspan(kHandshakeHeaderBytes);
  // A second message in the record would be no part of a hello.
  if (message[0] != kClientHello || from_big_endian(message.subspan(9, 3)) != out.part.size())
    return std::nullopt;
  if (out.hello_bytes > kMaxHelloBytes || out.offset + out.part.size() > out.hello_bytes) return std::nullopt;
  rest = rest.subspan(kRecordHeaderBytes + record);
  return out;
}

std::optional<HelloCookies::Cookie> HelloCookies::cookie(std::span<const std::byte> random,
                                                         const SocketAddress& to,
                                                         std::uint64_t period) const {
  std::array<std::byte, 8 + 8 + 2 + 4 + 8 + kRandomBytes> input;
  wire::ByteWriter writer(input);
  writer.number(to.host.high());
  writer.number(to.host.low());
  writer.number(to.port);
  writer.number(to.scope);
  writer.number(period);
  std::ranges::copy(random, input.end() - kRandomBytes);
  std::array<std::byte, 32> digest;
  unsigned bytes = 0;
  if (HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()),
           reinterpret_cast<const unsigned char*>(input.data()), input.size(),
           reinterpret_cast<unsigned char*>(digest.data()), &bytes) == nullptr)
    return std::nullopt;
  Cookie out;
  std::copy_n(digest.begin(), out.size(), out.begin());
  return out;
}

bool HelloCookies::has_cookie(const HelloFragment& first, const SocketAddress& from, double now_s) const {
  const auto start = read_start(first);
  if (!start || start->cookie.size() != std::tuple_size_v<Cookie>) return false;
  for (const std::uint64_t age : {0u, 1u}) {
    const auto expected = cookie(start->random, from, period_at(now_s) - age);
    if (expected && CRYPTO_memcmp(expected->data(), start->cookie.data(), expected->size()) == 0) return true;
  }
  return false;
}

std::optional<std::array<std::byte, HelloCookies::kRequestBytes>> HelloCookies::request(
    const HelloFragment& first, const SocketAddress& from, double now_s) const {
  // The shortest start of a hello that is answered: no session and no cookie.
  static_assert(kRequestBytes <= kRecordHeaderBytes + kHandshakeHeaderBytes + kRandomAt + kRandomBytes + 2);
  const auto start = read_start(first);
  if (!start) return std::nullopt;
  const auto made = cookie(start->random, from, period_at(now_s));
  if (!made) return std::nullopt;
  std::array<std::byte, kRequestBytes> out;
  // RFC 6347 section 4.2.1: version 1.0, whichever will be agreed, and the number of the hello's record.
  constexpr std::array kVersion{std::byte{0xfe}, std::byte{0xff}};
  write_headers(out, kHelloVerifyRequest, kVersion, first.sequence, 0);
  auto body = std::span(out).subspan(kRecordHeaderBytes + kHandshakeHeaderBytes);
  std::ranges::copy(kVersion, body.begin());
  put_big_endian(body.subspan(2, 1), made->size());
  std::ranges::copy(*made, body.begin() + 3);
  return out;
}

bool HelloAssembly::add(const HelloFragment& fragment) {
  if (hello_bytes_ == 0) {
    if (fragment.offset != 0) return false;
    version_ = fragment.version;
    sequence_ = fragment.sequence;
    message_ = fragment.message;
    hello_bytes_ = missing_ = fragment.hello_bytes;
    hello_.resize(hello_bytes_);
    present_.resize(hello_bytes_);
  }
  if (fragment.message != message_ || fragment.hello_bytes != hello_bytes_) return false;
  for (std::size_t i = 0; i < fragment.part.size(); ++i) {
    const std::size_t at = fragment.offset + i;
    if (present_[at] && hello_[at] != fragment.part[i]) return false;
    if (!present_[at]) --missing_;
    present_[at] = true;
    hello_[at] = fragment.part[i];
  }
  return true;
}

std::vector<std::byte> HelloAssembly::record() const {
  assert(is_complete());
  std::vector<std::byte> out(kRecordHeaderBytes + kHandshakeHeaderBytes + hello_bytes_);
  write_headers(out, kClientHello, version_, sequence_, message_);
  std::ranges::copy(hello_, out.begin() + kRecordHeaderBytes + kHandshakeHeaderBytes);
  return out;
}

}  // namespace reckoner::web
