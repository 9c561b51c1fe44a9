// SPDX-License-Identifier: MIT
// Archetypes and fields by their names.
#include "capi/src/values/boundary.hpp"
#include "capi/src/values/convert.hpp"

#include <string>

using namespace reckoner;

namespace {

// Writes the index, or the error.
reckoner_result give(const Result<std::size_t>& found, std::uint32_t* index, char* why,
                     std::size_t why_size) {
  if (!found) {
    capi::say(found.error(), why, why_size);
    return RECKONER_ERROR_UNKNOWN;
  }
  *index = static_cast<std::uint32_t>(*found);
  return RECKONER_OK;
}

}  // namespace

reckoner_result reckoner_find_archetype(const reckoner_archetype* archetypes, std::uint32_t count,
                                        const char* name, std::uint32_t* index, char* why,
                                        std::size_t why_size) {
  capi::say("", why, why_size);
  if (name == nullptr || index == nullptr) return RECKONER_ERROR_ARGUMENT;
  return capi::guarded([&] {
    reckoner_result result = RECKONER_OK;
    std::string fault;
    const auto all = capi::archetypes_of(archetypes, count, result, fault);
    if (all) return give(find_archetype(*all, name), index, why, why_size);
    capi::say(fault, why, why_size);
    return result;
  });
}

reckoner_result reckoner_find_field(const reckoner_archetype* archetype, const char* name,
                                    std::uint32_t* index, char* why, std::size_t why_size) {
  capi::say("", why, why_size);
  if (name == nullptr || index == nullptr) return RECKONER_ERROR_ARGUMENT;
  return capi::guarded([&] {
    reckoner_result result = RECKONER_OK;
    std::string fault;
    const auto all = capi::archetypes_of(archetype, 1, result, fault);
    if (all) return give(find_field(all->front(), name), index, why, why_size);
    capi::say(fault, why, why_size);
    return result;
  });
}
