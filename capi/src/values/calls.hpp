// SPDX-License-Identifier: MIT
#pragma once

#include "capi/src/values/boundary.hpp"
#include "capi/src/values/convert.hpp"

#include <reckoner.h>

#include <reckoner/net/call_result.hpp>

/// How a function of the C API calls the C++ object of a handle. `Handle` is reckoner_server or
/// reckoner_client: its `object` is the C++ object, its `call_error` the reason why the last call failed.
namespace reckoner::capi {

/// Runs `body` with the object of a handle. The last call has no reason from then on.
template <class Handle, class Body>
reckoner_result with(Handle* handle, Body&& body) noexcept {
  if (handle == nullptr) return RECKONER_ERROR_ARGUMENT;
  handle->call_error = CallError::none;
  return guarded([&] { return body(*handle->object); });
}

/// Runs a `call` that returns a CallResult, and stores the reason.
template <class Handle, class Call>
reckoner_result run(Handle* handle, Call&& call) noexcept {
  return with(handle, [&](auto& object) {
    const CallResult result = call(object);
    return to_c(result.error(), handle->call_error);
  });
}

/// Like run(), but returns `failure` for every reason.
template <class Handle, class Call>
reckoner_result run_or(Handle* handle, reckoner_result failure, Call&& call) noexcept {
  const reckoner_result result = run(handle, call);
  return result == RECKONER_ERROR_UNKNOWN || result == RECKONER_ERROR_REFUSED ? failure : result;
}

}  // namespace reckoner::capi
