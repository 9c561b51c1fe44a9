// SPDX-License-Identifier: MIT
// Keys, tokens and the allocator of the sockets.
#include "capi/src/values/boundary.hpp"
#include "capi/src/values/convert.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include <reckoner/net/network_transport.hpp>

using namespace reckoner;

reckoner_result reckoner_set_allocator(void* (*allocate)(std::size_t bytes), void (*release)(void* memory)) {
  if ((allocate == nullptr) != (release == nullptr)) return RECKONER_ERROR_ARGUMENT;
  const NetworkAllocator given{allocate != nullptr ? allocate : std::malloc,
                               release != nullptr ? release : std::free};
  return capi::guarded([&] { return capi::done_or(set_network_allocator(given), RECKONER_ERROR_REFUSED); });
}

reckoner_result reckoner_make_key(std::uint8_t key[32]) {
  if (key == nullptr) return RECKONER_ERROR_ARGUMENT;
  return capi::guarded([&] {
    const SecretKey made = SecretKey::make();
    std::memcpy(key, made.bytes().data(), made.bytes().size());
    return RECKONER_OK;
  });
}

reckoner_result reckoner_key_from_text(const char* text, std::uint8_t key[32]) {
  if (text == nullptr || key == nullptr) return RECKONER_ERROR_ARGUMENT;
  return capi::guarded([&]() -> reckoner_result {
    const auto read = SecretKey::from_text(text);
    if (!read) return RECKONER_ERROR_ARGUMENT;
    std::memcpy(key, read->bytes().data(), read->bytes().size());
    return RECKONER_OK;
  });
}

reckoner_result reckoner_key_to_text(const std::uint8_t key[32], char text[65]) {
  if (text == nullptr || key == nullptr) return RECKONER_ERROR_ARGUMENT;
  return capi::guarded([&] {
    capi::say(capi::key_of(key).text(), text, 65);
    return RECKONER_OK;
  });
}

reckoner_result reckoner_issue_token(const reckoner_grant* grant, const std::uint8_t key[32],
                                     std::uint8_t token[1024]) {
  reckoner_grant c{};
  if (const auto result = capi::read_struct(grant, c); result != RECKONER_OK) return result;
  if (key == nullptr || token == nullptr || (c.servers == nullptr && c.server_count > 0) ||
      c.server_count > ConnectGrant::kMaxServers || c.user_data_size > ConnectGrant::kUserBytes ||
      (c.user_data == nullptr && c.user_data_size > 0))
    return RECKONER_ERROR_ARGUMENT;
  return capi::guarded([&]() -> reckoner_result {
    auto servers = capi::addresses_of(c.servers, c.server_count, c.more_servers, true);
    if (!servers) return RECKONER_ERROR_ARGUMENT;
    ConnectGrant granted{.client_id = c.client_id, .expires_s = c.expires_s, .servers = std::move(*servers)};
    granted.renewable_until_s = c.renewable_until_s;
    granted.issued_ms = c.issued_ms;
    if (c.user_data_size > 0) std::memcpy(granted.user_data.data(), c.user_data, c.user_data_size);
    const auto issued = issue_token(granted, capi::key_of(key), c.game);
    const auto bytes = issued ? write_token(*issued) : Error{issued.error()};
    if (!bytes) return RECKONER_ERROR_ARGUMENT;
    std::memcpy(token, bytes->data(), bytes->size());
    return RECKONER_OK;
  });
}
