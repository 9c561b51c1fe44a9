// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/messages.hpp"

#include <cstddef>
#include <optional>
#include <span>

#include <reckoner/net/call_result.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner {

/// Checks a message that a game sends, without regard to its receiver. Returns the first error, or `none` if
/// the message can be sent.
[[nodiscard]] inline CallError find_message_fault(std::span<const std::byte> payload, Delivery delivery,
                                                  std::optional<double> time_s) {
  if (payload.empty()) return CallError::message_empty;
  if (payload.size() > max_message_bytes(delivery)) return CallError::message_too_long;
  return time_s && !is_valid_stamp(*time_s) ? CallError::invalid_time : CallError::none;
}

}  // namespace reckoner
