// SPDX-License-Identifier: MIT
#include "web/src/ice/stun_message.hpp"

#include "web/src/ice/big_endian.hpp"

#include <algorithm>
#include <cassert>
#include <vector>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace reckoner::web {
namespace {

constexpr std::uint32_t kMagicCookie = 0x2112'a442;
constexpr std::uint32_t kFingerprintMask = 0x5354'554e;  // RFC 8489 section 14.7
constexpr std::size_t kStunHeaderBytes = 20;
constexpr std::size_t kIntegrityBytes = 20;
constexpr std::size_t kFingerprintBytes = 4;

// Types of messages and attributes: RFC 8489 section 18, RFC 8445 section 20.
constexpr std::uint16_t kBindingRequest = 0x0001;
constexpr std::uint16_t kBindingSuccess = 0x0101;
constexpr std::uint16_t kUsername = 0x0006;
constexpr std::uint16_t kMessageIntegrity = 0x0008;
constexpr std::uint16_t kXorMappedAddress = 0x0020;
constexpr std::uint16_t kPriority = 0x0024;
constexpr std::uint16_t kUseCandidate = 0x0025;
constexpr std::uint16_t kFingerprint = 0x8028;
constexpr std::uint16_t kIceControlled = 0x8029;
constexpr std::uint16_t kIceControlling = 0x802a;
constexpr std::uint16_t kFirstOptional = 0x8000;  // a receiver may ignore attributes from here on

using Integrity = std::array<std::byte, kIntegrityBytes>;

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    table[byte] = byte;
    for (int bit = 0; bit < 8; ++bit)
      table[byte] = table[byte] >> 1 ^ ((table[byte] & 1u) != 0 ? 0xedb8'8320u : 0u);
  }
  return table;
}
constexpr std::array<std::uint32_t, 256> kCrcTable = make_crc_table();

/// CRC-32 of ITU V.42. With a table, because any stranger can have it computed.
std::uint32_t crc32(std::span<const std::byte> bytes) {
  std::uint32_t crc = ~0u;
  for (const std::byte byte : bytes)
    crc = crc >> 8 ^ kCrcTable[(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xff];
  return ~crc;
}

/// HMAC-SHA1 of the message before MESSAGE-INTEGRITY. The length in the header counts up to the end of that
/// attribute, whatever follows it (RFC 8489 section 14.5).
Integrity integrity_of(std::span<const std::byte> before, std::string_view password) {
  std::array<std::byte, kMaxStunBytes> copy;
  assert(before.size() >= kStunHeaderBytes && before.size() <= copy.size());
  std::copy(before.begin(), before.end(), copy.begin());
  put_big_endian(std::span(copy).subspan(2, 2), before.size() - kStunHeaderBytes + 4 + kIntegrityBytes);
  Integrity out{};
  unsigned size = 0;
  HMAC(EVP_sha1(), password.data(), static_cast<int>(password.size()),
       reinterpret_cast<const unsigned char*>(copy.data()), before.size(),
       reinterpret_cast<unsigned char*>(out.data()), &size);
  return out;
}

/// The attributes that a request may have once.
class SeenAttributes {
 public:
  /// Returns false if the attribute has been seen before.
  [[nodiscard]] bool add(std::uint16_t type) {
    const bool is_new = std::find(seen_.begin(), seen_.begin() + count_, type) == seen_.begin() + count_;
    if (is_new && count_ < static_cast<std::ptrdiff_t>(seen_.size())) seen_[count_++] = type;
    return is_new;
  }

 private:
  std::array<std::uint16_t, 8> seen_{};  // more than there are known types
  std::ptrdiff_t count_ = 0;
};

/// Reads one attribute before MESSAGE-INTEGRITY into `request`. Returns false if it makes the request
/// invalid.
bool read_attribute(std::uint16_t type, std::span<const std::byte> value, BindingRequest& request) {
  switch (type) {
    case kUsername:
      request.username = {reinterpret_cast<const char*>(value.data()), value.size()};
      return !value.empty();
    case kPriority:
      request.has_priority = true;
      return value.size() == 4;
    case kUseCandidate:
      request.use_candidate = true;
      return value.empty();
    case kIceControlling:
      request.is_controlling = true;
      return value.size() == 8;
    case kIceControlled:
      request.is_controlled = true;
      return value.size() == 8;
    default:
      return type >= kFirstOptional;
  }
}

bool is_known(std::uint16_t type) {
  return type == kUsername || type == kPriority || type == kUseCandidate || type == kIceControlling ||
         type == kIceControlled;
}

/// Appends attributes to a message.
class StunWriter {
 public:
  explicit StunWriter(std::span<std::byte> out) : out_(out) {}

  void header(std::uint16_t type, const StunTransaction& transaction) {
    put_big_endian(out_.subspan(0, 2), type);
    put_big_endian(out_.subspan(4, 4), kMagicCookie);
    std::copy(transaction.begin(), transaction.end(), out_.begin() + 8);
    size_ = kStunHeaderBytes;
  }
  /// Returns the place of the attribute's value. The size is a multiple of 4.
  std::span<std::byte> attribute(std::uint16_t type, std::size_t bytes) {
    put_big_endian(out_.subspan(size_, 2), type);
    put_big_endian(out_.subspan(size_ + 2, 2), bytes);
    size_ += 4 + bytes;
    put_big_endian(out_.subspan(2, 2), size_ - kStunHeaderBytes);
    return out_.subspan(size_ - bytes, bytes);
  }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::span<std::byte> out_;
  std::size_t size_ = 0;
};

void write_mapped_address(StunWriter& writer, const SocketAddress& from, const StunTransaction& transaction) {
  const bool is_ipv4 = from.host.is_ipv4();
  const auto value = writer.attribute(kXorMappedAddress, is_ipv4 ? 8 : 20);
  put_big_endian(value.subspan(0, 2), is_ipv4 ? 1 : 2);
  put_big_endian(value.subspan(2, 2), from.port ^ kMagicCookie >> 16);
  if (is_ipv4) return put_big_endian(value.subspan(4, 4), from.host.ipv4() ^ kMagicCookie);
  put_big_endian(value.subspan(4, 8), from.host.high());
  put_big_endian(value.subspan(12, 8), from.host.low());
  std::array<std::byte, 4> cookie;
  put_big_endian(cookie, kMagicCookie);
  for (std::size_t i = 0; i < 16; ++i)
    value[4 + i] ^= i < 4 ? cookie[i] : transaction[i - 4];
}

}  // namespace

bool is_stun(std::span<const std::byte> datagram) {
  return datagram.size() >= kStunHeaderBytes && std::to_integer<unsigned>(datagram[0]) <= 3 &&
         from_big_endian(datagram.subspan(4, 4)) == kMagicCookie;
}

std::optional<BindingRequest> read_binding_request(std::span<const std::byte> message) {
  if (!is_stun(message) || message.size() > kMaxStunBytes || message.size() % 4 != 0) return std::nullopt;
  if (from_big_endian(message.first(2)) != kBindingRequest) return std::nullopt;
  if (from_big_endian(message.subspan(2, 2)) + kStunHeaderBytes != message.size()) return std::nullopt;
  BindingRequest request;
  std::copy_n(message.begin() + 8, request.transaction.size(), request.transaction.begin());
  SeenAttributes seen;
  for (std::size_t at = kStunHeaderBytes; at < message.size();) {
    // Sizes are multiples of 4, so the 4 bytes of type and length are always there.
    const auto type = static_cast<std::uint16_t>(from_big_endian(message.subspan(at, 2)));
    const std::size_t bytes = from_big_endian(message.subspan(at + 2, 2));
    const std::size_t padded = (bytes + 3) / 4 * 4;
    if (padded > message.size() - at - 4) return std::nullopt;
    const auto value = message.subspan(at + 4, bytes);
    if (type == kFingerprint) {
      const bool is_last = at + 4 + padded == message.size() && bytes == kFingerprintBytes;
      if (!is_last || from_big_endian(value) != (crc32(message.first(at)) ^ kFingerprintMask))
        return std::nullopt;
      return request;
    }
    // An attribute after MESSAGE-INTEGRITY is not authenticated, so it is ignored (RFC 8489 section 14.5).
    if (!request.integrity_at) {
      if (type == kMessageIntegrity) {
        if (bytes != kIntegrityBytes) return std::nullopt;
        request.integrity_at = at;
      } else if (!read_attribute(type, value, request) || (is_known(type) && !seen.add(type))) {
        return std::nullopt;
      }
    }
    at += 4 + padded;
  }
  return std::nullopt;  // no FINGERPRINT
}

bool is_genuine(const BindingRequest& request, std::span<const std::byte> message,
                std::string_view password) {
  if (!request.integrity_at) return false;
  const Integrity expected = integrity_of(message.first(*request.integrity_at), password);
  return CRYPTO_memcmp(expected.data(), message.data() + *request.integrity_at + 4, expected.size()) == 0;
}

std::size_t write_binding_response(const StunTransaction& transaction, const SocketAddress& from,
                                   std::string_view password,
                                   std::span<std::byte, kMaxBindingResponseBytes> out) {
  StunWriter writer(out);
  writer.header(kBindingSuccess, transaction);
  write_mapped_address(writer, from, transaction);
  const Integrity integrity = integrity_of(out.first(writer.size()), password);
  std::ranges::copy(integrity, writer.attribute(kMessageIntegrity, kIntegrityBytes).begin());
  const std::size_t before = writer.size();
  const auto fingerprint = writer.attribute(kFingerprint, kFingerprintBytes);
  put_big_endian(fingerprint, crc32(out.first(before)) ^ kFingerprintMask);
  return writer.size();
}

}  // namespace reckoner::web
