// SPDX-License-Identifier: MIT
#pragma once

#include "web/src/ice/stun_message.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include <reckoner/net/refusal.hpp>
#include <reckoner/net/socket_address.hpp>

namespace reckoner::web {

/// What both ends have told each other over the signalling stream.
struct IceCredentials {
  std::string local_ufrag;     ///< ours, at least 4 characters; unique among the peers
  std::string local_password;  ///< ours, at least 22 characters
  std::string remote_ufrag;    ///< the browser's, at least 4 characters
};

/// The server's end of ICE-lite (RFC 8445 section 2.5) for many peers on one UDP port. A browser checks a
/// path with STUN; the server only answers. It answers nobody who does not know the password of an expected
/// peer, so a stranger learns nothing, not even that a server is here. An answer has at most 76 bytes; a
/// request that is answered has at least 88. So the server never amplifies a flood with forged addresses. It
/// sends no STUN errors: a browser repeats a request that was lost, and a sender of wrong requests gets
/// nothing.
class IceLite {
 public:
  /// An answer, and what it means.
  struct Answer {
    std::uint64_t peer = 0;     ///< number that the caller gave to expect()
    bool is_nominated = false;  ///< the browser has chosen the path from this address
    std::size_t bytes = 0;      ///< size of the response, bytes
  };

  /// Answers checks of a peer from now on. Returns false, and does nothing, if the local ufrag is in use.
  [[nodiscard]] bool expect(std::uint64_t peer, IceCredentials credentials);
  /// Answers no checks with this local ufrag any more.
  void forget(std::string_view local_ufrag);

  /// Reads a datagram for which is_stun() is true. If it is a genuine check of a peer, writes the response,
  /// for the address `from`, into `out`. Returns nullopt otherwise, and counts why.
  [[nodiscard]] std::optional<Answer> receive(std::span<const std::byte> datagram, const SocketAddress& from,
                                              std::span<std::byte, kMaxBindingResponseBytes> out);

  /// Number of requests that were refused, by reason: `malformed`; `unexpected`: not a check that a browser
  /// sends to a server; `no_session`: unknown peer; `not_genuine`: wrong MESSAGE-INTEGRITY.
  [[nodiscard]] const RefusalCounts& refusals() const { return refusals_; }

 private:
  struct Peer {
    std::uint64_t number = 0;
    IceCredentials credentials;
    std::string username;  // of the browser's checks
  };
  struct TextHash {
    using is_transparent = void;
    [[nodiscard]] std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };

  std::nullopt_t refuse(Refusal why) {
    ++refusals_[why];
    return std::nullopt;
  }

  std::unordered_map<std::string, Peer, TextHash, std::equal_to<>> peers_;  // by local ufrag
  RefusalCounts refusals_;
};

}  // namespace reckoner::web
