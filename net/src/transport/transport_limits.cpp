// SPDX-License-Identifier: MIT
#include "net/src/wire/bit_archive.hpp"

#include <string>

#include <reckoner/net/transport.hpp>

namespace reckoner {

std::optional<Error> fault_in(const TransportLimits& limits) {
  const NumberRange numbers[] = {
      {"datagrams_per_second", limits.datagrams_per_second, 0.0, 1e9},
      {"bytes_per_second", limits.bytes_per_second, 0.0, 1e12},
      {"address_datagrams_per_second", limits.address_datagrams_per_second, 0.0, 1e9},
      {"address_bytes_per_second", limits.address_bytes_per_second, 0.0, 1e12},
      {"burst_s", limits.burst_s, 0.0, 3600.0},
      {"silence_s", limits.silence_s, 1.0, 3600.0},
  };
  if (const char* const name = first_out_of_range(numbers))
    return Error{std::string("the limit ") + name + " is out of range"};
  if (limits.message_bytes > kMaxControlBytes)
    return Error{"control messages have " + std::to_string(kMaxControlBytes) + " bytes at most"};
  const struct {
    const char* name;
    std::size_t value;
  } sizes[] = {
      {"message_bytes", limits.message_bytes},
      {"waiting_bytes", limits.waiting_bytes},
      {"backlog_bytes", limits.backlog_bytes},
      {"waiting_events", limits.waiting_events},
      {"waiting_event_bytes", limits.waiting_event_bytes},
  };
  for (const auto& size : sizes) {
    if (size.value == 0) return Error{std::string("the limit ") + size.name + " leaves room for nothing"};
  }
  return std::nullopt;
}

}  // namespace reckoner
