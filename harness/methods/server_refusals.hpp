// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <reckoner/net/call_result.hpp>

namespace reckoner::harness {

/// Remembers the first state that a server refused to publish during a replay.
class ServerRefusals {
 public:
  /// Call this with the result of each spawn and each move of the entity `name`.
  void note(const std::string& name, CallError why) {
    // The moves of an entity that the server refused to spawn fail, too.
    if (why == CallError::none || why == CallError::unknown_entity || !text_.empty()) return;
    text_ = "the server refused the entity '" + name + "': " + std::string{describe(why)};
  }

  /// A sentence about it; empty if nothing was refused.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace reckoner::harness
