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
  static constexpr std::size_t kBytes = 32;

  SecretKey() = default;  ///< all zero: no key
  explicit SecretKey(const std::array<std::byte, kBytes>& bytes) : bytes_(bytes) {}
  SecretKey(const SecretKey&) = default;
  SecretKey& operator=(const SecretKey&) = default;
  ~SecretKey();

  /// A new one from the system's random numbers.
  [[nodiscard]] static SecretKey make();

  /// 64 hexadecimal digits, as key files hold them; nothing if it is anything else, blanks at the ends aside.
  [[nodiscard]] static std::optional<SecretKey> from_text(std::string_view text);
  [[nodiscard]] std::string text() const;

  [[nodiscard]] const std::array<std::byte, kBytes>& bytes() const { return bytes_; }
  [[nodiscard]] explicit operator bool() const;

 private:
  std::array<std::byte, kBytes> bytes_{};
};

}  // namespace reckoner
