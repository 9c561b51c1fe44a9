// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <utility>

namespace reckoner {

/// Instead of security: anybody may join, nobody knows whom they have joined, and nothing is encrypted. For a
/// LAN or a test; it must be asked for by name.
struct Insecure {};

/// What a transport's security is, or that there is none. There is no default: whoever opens a transport says
/// which.
template <class Security>
class OrInsecure {
 public:
  /// As given.
  OrInsecure(Security security) : security_(std::move(security)) {}
  /// None, as asked for.
  OrInsecure(Insecure) {}

  /// Null: insecure. Lives as long as this.
  [[nodiscard]] const Security* get() const { return security_ ? &*security_ : nullptr; }
  /// The same, to be changed.
  [[nodiscard]] Security* get() { return security_ ? &*security_ : nullptr; }

 private:
  std::optional<Security> security_;
};

}  // namespace reckoner
