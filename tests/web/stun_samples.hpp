// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace reckoner::test {

using StunBytes = std::vector<std::byte>;

/// Makes the checks of a browser, attribute by attribute. It shares no code with the code under
/// test except for HMAC of OpenSSL.
class StunSample {
 public:
  /// Begins a message with the transaction 1, 2, ..., 12.
  explicit StunSample(std::uint16_t type = 0x0001);

  /// Appends an attribute, padded with zeros.
  StunSample& add(std::uint16_t type, std::span<const std::byte> value);
  StunSample& add(std::uint16_t type, std::string_view value);
  /// Appends MESSAGE-INTEGRITY.
  StunSample& sign(std::string_view password);
  /// Appends FINGERPRINT and returns the message.
  [[nodiscard]] StunBytes finish();

 private:
  void set_length(std::size_t attribute_bytes);

  StunBytes bytes_;
};

/// The check that a browser sends: USERNAME `username`, PRIORITY, ICE-CONTROLLING, and USE-CANDIDATE if
/// `nominates`.
[[nodiscard]] StunBytes browser_check(std::string_view username, std::string_view password,
                                      bool nominates = false);

/// Bytes from hexadecimal digits; blanks are skipped.
[[nodiscard]] StunBytes from_hex(std::string_view hex);

}  // namespace reckoner::test
