// SPDX-License-Identifier: MIT
#pragma once

#include "web/src/listener/side_channels.hpp"

#include <memory>

namespace reckoner::web {

/// Opens the UDP port of a listener's data channels, at the listener's host. Fails if it is in use, or if
/// OpenSSL does. `config` must be valid.
[[nodiscard]] Result<std::unique_ptr<SideChannels>> open_data_channels(const WebConfig& config);

}  // namespace reckoner::web
