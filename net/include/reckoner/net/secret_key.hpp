// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <reckoner/net/export.hpp>

namespace reckoner {

/// 32 secret bytes. Wiped when it goes.
class RECKONER_NET_API SecretKey {
 public:
  static constexpr std::size_t kBytes = 32;  ///< of a key

  SecretKey() = default;  ///< all zero: no key
  /// These.
  explicit SecretKey(const std::array<std::byte, kBytes>& bytes) : bytes_(bytes) {}
  /// Both hold it then, and both wipe it.
  SecretKey(const SecretKey&) = default;
  /// The same.
  SecretKey& operator=(const SecretKey&) = default;
  ~SecretKey();

  /// A new one from the system's random numbers.
  [[nodiscard]] static SecretKey make();

  /// 64 hexadecimal digits, as key files hold them; nothing if it is anything else, blanks at the ends aside.
  [[nodiscard]] static std::optional<SecretKey> from_text(std::string_view text);
  /// As from_text() reads it, 64 digits in lower case. The caller wipes the copy.
  [[nodiscard]] std::string text() const;

  /// The secret itself, for sealing; valid as long as the key.
  [[nodiscard]] const std::array<std::byte, kBytes>& bytes() const { return bytes_; }
  /// False for none: all bytes are zero.
  [[nodiscard]] explicit operator bool() const;

 private:
  std::array<std::byte, kBytes> bytes_{};
};

}  // namespace reckoner
