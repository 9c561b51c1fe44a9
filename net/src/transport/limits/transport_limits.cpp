// SPDX-License-Identifier: MIT
#include "net/src/transport/limits/limit_settings.hpp"

#include <reckoner/net/transport.hpp>

namespace reckoner {

std::optional<Error> find_invalid_setting(const TransportLimits& limits) {
  return find_invalid<TransportLimits>(kTransportLimitSettings, limits, "limits.");
}

}  // namespace reckoner
