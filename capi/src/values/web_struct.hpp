// SPDX-License-Identifier: MIT
#pragma once

#include "capi/src/values/struct_sizes.hpp"

#include <array>
#include <cstddef>

#include <reckoner_web.h>

namespace reckoner::capi {

template <>
inline constexpr std::size_t kFirstEnd<reckoner_web_config> = sizeof(reckoner_web_config);
/// The members that struct_size may end behind. New members go to the end of the struct and of this list.
template <>
inline constexpr auto kMemberEnds<reckoner_web_config> =
    std::to_array<std::size_t>({sizeof(reckoner_web_config)});

}  // namespace reckoner::capi
