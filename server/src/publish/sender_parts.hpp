// SPDX-License-Identifier: MIT
#pragma once

namespace reckoner {

/// Parts of the sender. All are on in the product. Measurements switch single parts off to find out what each
/// part contributes (docs/TUNING.md).
struct SenderParts {
  bool fitted_acceleration = true;  ///< false: the true acceleration is sent
  bool latency_aware = true;        ///< false: an update is due only when the error has reached the threshold
  bool repair = true;               ///< false: lost updates are not sent again
};

}  // namespace reckoner
