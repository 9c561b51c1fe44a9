// SPDX-License-Identifier: MIT
#pragma once

#include "web/src/listener/side_channels.hpp"

#include <memory>

#include <reckoner/reckoning/result.hpp>
#include <reckoner/web/web_listener.hpp>

namespace reckoner::web {

/// Opens the data channels of a listener: a ChannelServer at the listener's host. Fails if the UDP port is in
/// use, or if OpenSSL does. `config` must be valid.
[[nodiscard]] Result<std::unique_ptr<SideChannels>> open_channels(const WebConfig& config);

}  // namespace reckoner::web
