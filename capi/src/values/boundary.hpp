// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

#include <reckoner.h>

/// The rules of every function of the C API: no exception leaves it, and it reads and writes structs of other
/// versions of the header up to the last member that both versions have.
namespace reckoner::capi {

/// Runs `body`, which returns a reckoner_result.
template <class Body>
reckoner_result guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return RECKONER_ERROR_MEMORY;
  } catch (...) {
    return RECKONER_ERROR_INTERNAL;
  }
}

/// The smallest valid struct_size, bytes; every version of every sized struct is at least this large.
inline constexpr std::uint32_t kMinSize = 8;

/// Writes the first `size` bytes of `value` into the caller's struct and sets its struct_size. Members that
/// only the caller's version has become zero.
template <class T>
void put(T* to, T value, std::uint32_t size) {
  if (to == nullptr || size < kMinSize) return;
  value.struct_size = size;
  std::memcpy(to, &value, std::min<std::size_t>(size, sizeof value));
  if (size > sizeof value)
    std::memset(reinterpret_cast<std::byte*>(to) + sizeof value, 0, size - sizeof value);
}

/// Writes `value` into a struct whose struct_size the caller has set.
template <class T>
[[nodiscard]] reckoner_result give(T* to, const T& value) {
  if (to == nullptr) return RECKONER_ERROR_ARGUMENT;
  if (to->struct_size < kMinSize) return RECKONER_ERROR_STRUCT;
  put(to, value, to->struct_size);
  return RECKONER_OK;
}

/// Reads the caller's struct into `value`, which keeps its defaults where the caller's version has no member.
/// Members that this library does not know must be zero, because it cannot do what they ask for.
template <class T>
[[nodiscard]] reckoner_result read_struct(const T* from, T& value) {
  if (from == nullptr) return RECKONER_ERROR_ARGUMENT;
  const std::size_t size = from->struct_size;
  if (size < kMinSize) return RECKONER_ERROR_STRUCT;
  const auto* bytes = reinterpret_cast<const std::byte*>(from);
  if (size > sizeof value &&
      std::any_of(bytes + sizeof value, bytes + size, [](std::byte b) { return b != std::byte{0}; }))
    return RECKONER_ERROR_STRUCT;
  std::memcpy(&value, from, std::min(size, sizeof value));
  return RECKONER_OK;
}

/// Element `i` of an array of sized structs. The first one's struct_size is the size of each.
template <class T>
[[nodiscard]] const T* element(const T* first, std::size_t i) {
  const auto* bytes = reinterpret_cast<const std::byte*>(first) + i * first->struct_size;
  return reinterpret_cast<const T*>(bytes);
}

/// Copies a text and a terminating 0 into a buffer of `size` bytes; cuts the text if it is too long.
inline void say(std::string_view text, char* to, std::size_t size) {
  if (to == nullptr || size == 0) return;
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

/// RECKONER_OK if `done`, else the other result.
[[nodiscard]] constexpr reckoner_result done_or(bool done, reckoner_result otherwise) {
  return done ? RECKONER_OK : otherwise;
}

/// Whether the value is a finite number of seconds, 0 or more.
[[nodiscard]] inline bool is_duration(double seconds) {
  return std::isfinite(seconds) && seconds >= 0.0;
}

}  // namespace reckoner::capi
