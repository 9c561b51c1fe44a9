// SPDX-License-Identifier: MIT
#pragma once

namespace reckoner::program {

/// The header of the file of reckoner-server --decisions.
inline constexpr const char* kDecisionColumns =
    "kind,time_s,client,entity,generation,level,motion_s,since_s,error_m,threshold_m,why";

}  // namespace reckoner::program
