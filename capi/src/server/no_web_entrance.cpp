// SPDX-License-Identifier: MIT
// A library that cannot listen for browsers, but has all functions, so that its exports are the same.
#include "capi/src/server/web_entrance.hpp"
#include "capi/src/values/boundary.hpp"
#include "capi/src/values/web_struct.hpp"

#include <reckoner_web.h>

using namespace reckoner;

capi::OpenedEntrance capi::open_web_entrance(const reckoner_web_config&, const OrInsecure<ServerSecurity>&,
                                             NetworkTransport&) {
  return {.result = RECKONER_ERROR_ARGUMENT,
          .fault = "web is set, but this library was built without reckoner::web (RECKONER_C_WEB)"};
}

void reckoner_web_config_init(reckoner_web_config* config, std::uint32_t struct_size) {
  capi::put(config, reckoner_web_config{}, struct_size);
}
