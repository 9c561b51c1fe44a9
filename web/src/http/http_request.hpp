// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace reckoner::web {

/// Largest head of a request (request line and header fields), bytes.
inline constexpr std::size_t kMaxRequestBytes = 8192;

/// The head of a request for a file or a WebSocket (RFC 9112): what a WebListener answers, and nothing else.
struct HttpRequest {
  struct Field {
    std::string name;  ///< in lower case
    std::string value;
  };

  bool head_only = false;     ///< HEAD instead of GET
  std::string path;           ///< begins with '/', without the query
  int minor_version = 1;      ///< HTTP/1.0 or HTTP/1.1
  std::vector<Field> fields;  ///< in the order of the request

  /// The value of a field. Empty if the field is missing or occurs more than once. `name` is in lower case.
  [[nodiscard]] std::string_view field(std::string_view name) const;
  /// True if one of the fields of this name lists `token`, among tokens that commas separate. Does not regard
  /// case.
  [[nodiscard]] bool lists(std::string_view name, std::string_view token) const;
  /// True if the client wants to open a WebSocket (RFC 6455, 4.1).
  [[nodiscard]] bool opens_web_socket() const;
};

/// Why a request is refused: the status code of the answer. 400 malformed, or with a body; 405 another method
/// than GET and HEAD; 505 another version than HTTP/1.0 and HTTP/1.1.
struct RefusedRequest {
  int status = 400;
};

/// Returns why the bytes cannot be the begin of an acceptable request, as soon as they show it; nullopt
/// before. So a client cannot keep a connection busy with a request that would be refused in the end.
[[nodiscard]] std::optional<RefusedRequest> refuse_early(std::string_view bytes);

/// Reads the untrusted head of a request, with the empty line at its end. A request is also refused if it
/// announces a body, has no Host field or several, or has two fields of one name that must be unique.
[[nodiscard]] std::variant<HttpRequest, RefusedRequest> read_request(std::string_view head);

}  // namespace reckoner::web
