// SPDX-License-Identifier: MIT
// Functions without server or client: texts and versions.
#include "capi/src/values/boundary.hpp"
#include "version.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <reckoner/net/call_result.hpp>
#include <reckoner/net/refusal.hpp>
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
