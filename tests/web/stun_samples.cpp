// SPDX-License-Identifier: MIT
#include "stun_samples.hpp"

#include <array>

#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace reckoner::test {
namespace {

void append(StunBytes& bytes, std::uint64_t value, int count) {
  for (int shift = 8 * (count - 1); shift >= 0; shift -= 8)
    bytes.push_back(static_cast<std::byte>(value >> shift & 0xff));
}

// CRC-32 by long division of polynomials, most significant bit first, as the standard describes it.
std::uint32_t crc_of(std::span<const std::byte> bytes) {
  std::uint32_t remainder = 0xffff'ffff;
  for (const std::byte byte : bytes) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      const bool in = (std::to_integer<unsigned>(byte) >> bit & 1u) != 0;
      const bool out = remainder >> 31 != 0;
      remainder = remainder << 1 ^ (in != out ? 0x04c1'1db7u : 0u);
    }
  }
  std::uint32_t reflected = 0;
  for (unsigned bit = 0; bit < 32; ++bit)
    reflected |= (remainder >> bit & 1u) << (31 - bit);
  return ~reflected;
}

}  // namespace

StunSample::StunSample(std::uint16_t type) {
  append(bytes_, type, 2);
  append(bytes_, 0, 2);
  append(bytes_, 0x2112'a442, 4);
  for (unsigned i = 1; i <= 12; ++i)
    append(bytes_, i, 1);
}

StunSample& StunSample::add(std::uint16_t type, std::span<const std::byte> value) {
  append(bytes_, type, 2);
  append(bytes_, value.size(), 2);
  bytes_.insert(bytes_.end(), value.begin(), value.end());
  while (bytes_.size() % 4 != 0)
    bytes_.push_back(std::byte{0});
  set_length(bytes_.size() - 20);
  return *this;
}

StunSample& StunSample::add(std::uint16_t type, std::string_view value) {
  return add(type, std::as_bytes(std::span(value)));
}

StunSample& StunSample::sign(std::string_view password) {
  set_length(bytes_.size() - 20 + 24);
  std::array<unsigned char, 20> hmac{};
  unsigned size = 0;
  HMAC(EVP_sha1(), password.data(), static_cast<int>(password.size()),
       reinterpret_cast<const unsigned char*>(bytes_.data()), bytes_.size(), hmac.data(), &size);
  return add(0x0008, std::as_bytes(std::span(hmac)));
}

StunBytes StunSample::finish() {
  set_length(bytes_.size() - 20 + 8);
  const std::uint32_t crc = crc_of(bytes_) ^ 0x5354'554e;
  append(bytes_, 0x8028, 2);
  append(bytes_, 4, 2);
  append(bytes_, crc, 4);
  return bytes_;
}

void StunSample::set_length(std::size_t attribute_bytes) {
  bytes_[2] = static_cast<std::byte>(attribute_bytes >> 8 & 0xff);
  bytes_[3] = static_cast<std::byte>(attribute_bytes & 0xff);
}

StunBytes browser_check(std::string_view username, std::string_view password, bool nominates) {
  StunSample sample;
  sample.add(0x0006, username);
  sample.add(0xc057, std::string_view("\0\1\0\12", 4));  // GOOG-NETWORK-INFO, which only Chromium sends
  sample.add(0x802a, std::string_view("tiebreak"));
  if (nominates) sample.add(0x0025, std::string_view());
  sample.add(0x0024, std::string_view("prio"));
  return sample.sign(password).finish();
}

StunBytes from_hex(std::string_view hex) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  StunBytes out;
  unsigned digits = 0, value = 0;
  for (const char c : hex) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) continue;
    value = value << 4 | static_cast<unsigned>(digit);
    if (++digits % 2 == 0) out.push_back(static_cast<std::byte>(value & 0xff));
  }
  return out;
}

}  // namespace reckoner::test
