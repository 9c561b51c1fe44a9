// SPDX-License-Identifier: MIT
// Functions without server or client: texts, versions, keys and tokens.
#include "capi/src/values/boundary.hpp"
#include "capi/src/values/convert.hpp"
#include "version.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <reckoner/net/call_result.hpp>
#include <reckoner/net/network_transport.hpp>
#include <reckoner/net/transport.hpp>

using namespace reckoner;

namespace {

/// The oldest version of the header whose programs work with this library.
constexpr std::array<std::uint32_t, 3> kOldestProgram{0, 2, 0};

/// The three numbers of "0.2.0"; nullopt for other texts.
std::optional<std::array<std::uint32_t, 3>> version_of(std::string_view text) {
  std::array<std::uint32_t, 3> numbers{};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0 && (at == end || *at++ != '.')) return std::nullopt;
    const auto [next, error] = std::from_chars(at, end, numbers[i]);
    if (error != std::errc{}) return std::nullopt;
    at = next;
  }
  if (at != end) return std::nullopt;
  return numbers;
}

}  // namespace

const char* reckoner_error_text(reckoner_result result) {
  switch (result) {
    case RECKONER_OK:
      return "done";
    case RECKONER_NOTHING:
      return "there is no result";
    case RECKONER_ERROR_ARGUMENT:
      return "an argument is null or invalid";
    case RECKONER_ERROR_STRUCT:
      return "a struct_size is not set, or the struct has members that this library does not know";
    case RECKONER_ERROR_UNKNOWN:
      return "there is no such entity, client, route or field";
    case RECKONER_ERROR_REFUSED:
      return "this cannot be done now, or with these values";
    case RECKONER_ERROR_NETWORK:
      return "network error: the host is unknown, or the port is in use";
    case RECKONER_ERROR_MEMORY:
      return "out of memory";
    case RECKONER_ERROR_CAPACITY:
      return "the array is too short";
    case RECKONER_ERROR_INTERNAL:
      return "internal error in the library";
    default:
      return "unknown result";
  }
}

const char* reckoner_version() {
  return RECKONER_VERSION;
}

std::uint32_t reckoner_protocol_version() {
  return kProtocolVersion;
}

reckoner_result reckoner_check_version(const char* version, char* why, std::size_t why_size) {
  capi::say("", why, why_size);
  if (version == nullptr) return RECKONER_ERROR_ARGUMENT;
  return capi::guarded([&]() -> reckoner_result {
    const auto needed = version_of(version);
    if (!needed) {
      capi::say("a version has the form 0.2.0", why, why_size);
      return RECKONER_ERROR_ARGUMENT;
    }
    const bool is_too_old = *needed < kOldestProgram;
    if (!is_too_old && *needed <= *version_of(RECKONER_VERSION)) return RECKONER_OK;
    std::string text = "the program needs version " + std::string(version) +
                       " of the Reckoner library, this is " + RECKONER_VERSION;
    if (is_too_old) text += ": change the program as docs/UPGRADING.md says, and compile it again";
    capi::say(text, why, why_size);
    return RECKONER_ERROR_STRUCT;
  });
}

const char* reckoner_refusal_name(std::uint32_t reason) {
  // The names are literals, so they end with 0.
  return reason < RefusalCounts::kReasons ? name_of(static_cast<Refusal>(reason)).data() : nullptr;
}

const char* reckoner_call_error_text(std::uint32_t error) {
  // The texts are literals, so they end with 0.
  return describe(static_cast<CallError>(std::min<std::uint32_t>(error, UINT8_MAX))).data();
}

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
