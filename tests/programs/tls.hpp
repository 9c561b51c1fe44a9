// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace reckoner::test {

/// Writes a new certificate for "localhost" and its key into a PEM file. Returns false if that fails.
[[nodiscard]] bool write_certificate(const std::string& path);

/// The client's end of TLS over a connected socket. It trusts every certificate.
class TlsClient {
 public:
  /// Does the handshake. The socket stays the caller's.
  explicit TlsClient(int socket);
  ~TlsClient();
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;

  [[nodiscard]] bool is_open() const;
  /// Sends bytes. Returns how many, or 0 or less if the connection has ended.
  [[nodiscard]] int send(std::string_view bytes) const;
  /// Reads what has arrived. Returns the number of bytes; 0: nothing yet; less: the connection has ended.
  [[nodiscard]] int read(char* out, std::size_t most) const;
  /// Bytes that read() returns without another look at the socket.
  [[nodiscard]] bool has_pending() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace reckoner::test
