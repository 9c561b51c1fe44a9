// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace reckoner {

/// How far a client's reliable messages may run ahead of what the server has said that it took in
/// (SessionMessage::taken): both ends go by it. So what was held back by a silence of the link comes in
/// portions that the server's game has time to poll, and a server need drop nothing of an honest client's.
struct MessageWindow {
  static constexpr std::size_t kMessages = 512;      ///< on their way at most
  static constexpr std::size_t kBytes = 128 * 1024;  ///< encoded, on their way at most

  /// The client is told after so many messages or bytes, whichever comes first: well before the window ends.
  static constexpr std::uint32_t kTellMessages = 32;
  static constexpr std::size_t kTellBytes = 32 * 1024;  ///< of payload
};

}  // namespace reckoner
