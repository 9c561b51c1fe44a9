// SPDX-License-Identifier: MIT
#pragma once

#include "capi/src/values/struct_sizes.hpp"

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

/// RECKONER_OK if the caller's struct has a valid struct_size (is_size_of()), so that give() succeeds. Call
/// it before anything that cannot be undone.
template <class T>
[[nodiscard]] reckoner_result check_struct(const T* given) {
  if (given == nullptr) return RECKONER_ERROR_ARGUMENT;
  return is_size_of<T>(given->struct_size) ? RECKONER_OK : RECKONER_ERROR_STRUCT;
}

/// Writes the first `size` bytes of `value` into the caller's struct and sets its struct_size. Members that
/// only the caller's version has become zero. If the size is invalid, only sets struct_size to 0, so that
/// every function refuses the struct.
template <class T>
void put(T* to, T value, std::uint32_t size) {
  if (to == nullptr || size < sizeof value.struct_size) return;
  if (!is_size_of<T>(size)) {
    to->struct_size = 0;
    return;
  }
  value.struct_size = size;
  std::memcpy(to, &value, std::min<std::size_t>(size, sizeof value));
  if (size > sizeof value)
    std::memset(reinterpret_cast<std::byte*>(to) + sizeof value, 0, size - sizeof value);
}

/// Writes `value` into a struct whose struct_size the caller has set.
template <class T>
[[nodiscard]] reckoner_result give(T* to, const T& value) {
  const reckoner_result result = check_struct(to);
  if (result == RECKONER_OK) put(to, value, to->struct_size);
  return result;
}

/// Reads the caller's struct into `value`, which keeps its defaults where the caller's version has no member.
/// Members that this library does not know must be zero, because it cannot do what they ask for.
template <class T>
[[nodiscard]] reckoner_result read_struct(const T* from, T& value) {
  if (const auto result = check_struct(from); result != RECKONER_OK) return result;
  const std::size_t size = from->struct_size;
  const auto* bytes = reinterpret_cast<const std::byte*>(from);
  if (size > sizeof value &&
      std::any_of(bytes + sizeof value, bytes + size, [](std::byte b) { return b != std::byte{0}; }))
    return RECKONER_ERROR_STRUCT;
  std::memcpy(&value, from, std::min(size, sizeof value));
  return RECKONER_OK;
}

/// Reads element `i` of an array of sized structs into `value`, as read_struct() does. All elements must have
/// the struct_size of the first one.
template <class T>
[[nodiscard]] reckoner_result read_element(const T* first, std::size_t i, T& value) {
  if (const auto result = check_struct(first); result != RECKONER_OK) return result;
  const auto* bytes = reinterpret_cast<const std::byte*>(first) + i * first->struct_size;
  const T* from = reinterpret_cast<const T*>(bytes);
  if (from->struct_size != first->struct_size) return RECKONER_ERROR_STRUCT;
  return read_struct(from, value);
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
