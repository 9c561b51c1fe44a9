// SPDX-License-Identifier: MIT
#pragma once

#include "capi/src/values/struct_sizes.hpp"

#include <array>
#include <cstddef>

#include <reckoner_web.h>

namespace reckoner::capi {

template <>
inline constexpr std::size_t kFirstEnd<reckoner_web_config> = offsetof(reckoner_web_config, channel_address);
/// The members that struct_size may end behind. New members go to the end of the struct and of this list.
template <>
inline constexpr auto kMemberEnds<reckoner_web_config> = std::to_array<std::size_t>({
    offsetof(reckoner_web_config, channel_address),
    offsetof(reckoner_web_config, channel_port),
    offsetof(reckoner_web_config, channel_public_port),
    offsetof(reckoner_web_config, reserved3),
    offsetof(reckoner_web_config, reserved4),
    sizeof(reckoner_web_config),
});

}  // namespace reckoner::capi
