// SPDX-License-Identifier: MIT
#include "web/src/http/http_request.hpp"

#include "web/src/http/ascii.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace reckoner::web {
namespace {

constexpr std::string_view kNewLine = "\r\n";
constexpr std::size_t kMaxFields = 64;

bool equal_without_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, &lower_case, &lower_case);
}

bool is_token_character(char c) {
  return is_letter(c) || is_digit(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

// Printable ASCII. A request of a browser has nothing else.
bool is_visible(char c) {
  return c > ' ' && c < 0x7f;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
    text.remove_suffix(1);
  return text;
}

// Cuts a line off the begin of a text.
std::optional<std::string_view> next_line(std::string_view& text) {
  const std::size_t end = text.find(kNewLine);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + kNewLine.size());
  return line;
}

std::optional<RefusedRequest> read_request_line(std::string_view line, HttpRequest& out) {
  if (const auto refused = refuse_early(line)) return refused;
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return RefusedRequest{400};
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!target.starts_with('/') || !std::ranges::all_of(target, is_visible)) return RefusedRequest{400};
  if (version != "HTTP/1.1" && version != "HTTP/1.0")
    return RefusedRequest{version.starts_with("HTTP/") ? 505 : 400};
  out.head_only = line.starts_with("HEAD ");
  out.path = target.substr(0, target.find_first_of("?#"));
  out.minor_version = version.back() - '0';
  return std::nullopt;
}

bool read_field(std::string_view line, HttpRequest& out) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trimmed(line.substr(colon + 1));
  // Bytes above 0x7f are allowed in values: cookies of other sites on this host may have them.
  const bool valid = std::ranges::all_of(name, is_token_character) && std::ranges::all_of(value, [](char c) {
                       return c == '\t' || (static_cast<unsigned char>(c) >= ' ' && c != 0x7f);
                     });
  if (!valid || out.fields.size() == kMaxFields) return false;
  out.fields.push_back({in_lower_case(name), std::string(value)});
  return true;
}

// Two readers could each believe another one of two fields (a proxy, for example, and this server).
bool has_unique_fields(const HttpRequest& request) {
  constexpr std::array<std::string_view, 6> kUnique{
      "host", "origin", "content-length", "transfer-encoding", "sec-websocket-key", "sec-websocket-version"};
  return std::ranges::all_of(kUnique, [&](std::string_view name) {
    return std::ranges::count(request.fields, name, &HttpRequest::Field::name) <= 1;
  });
}

bool has_body(const HttpRequest& request) {
  const std::string_view size = request.field("content-length");
  const auto missing = [&](std::string_view name) {
    return std::ranges::count(request.fields, name, &HttpRequest::Field::name) == 0;
  };
  return !missing("transfer-encoding") || (!missing("content-length") && size != "0");
}

}  // namespace

std::string_view HttpRequest::field(std::string_view name) const {
  const auto found = std::ranges::find(fields, name, &Field::name);
  if (found == fields.end()) return {};
  return std::ranges::find(found + 1, fields.end(), name, &Field::name) == fields.end()
             ? std::string_view(found->value)
             : std::string_view();
}

bool HttpRequest::lists(std::string_view name, std::string_view token) const {
  for (const Field& each : fields) {
    if (each.name != name) continue;
    std::string_view rest = each.value;
    for (;;) {
      const std::size_t comma = rest.find(',');
      if (equal_without_case(trimmed(rest.substr(0, comma)), token)) return true;
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  return false;
}

bool HttpRequest::opens_web_socket() const {
  // 16 bytes as 24 characters.
  const std::string_view key = field("sec-websocket-key");
  const bool valid_key = key.size() == 24 && std::ranges::all_of(key, is_visible);
  return !head_only && minor_version == 1 && lists("upgrade", "websocket") &&
         lists("connection", "upgrade") && field("sec-websocket-version") == "13" && valid_key;
}

std::optional<RefusedRequest> refuse_early(std::string_view bytes) {
  for (const std::string_view method : {"GET ", "HEAD "}) {
    if (bytes.substr(0, method.size()) == method.substr(0, bytes.size())) return std::nullopt;
  }
  const bool text = bytes.front() >= 'A' && bytes.front() <= 'Z';
  return RefusedRequest{text ? 405 : 400};
}

std::variant<HttpRequest, RefusedRequest> read_request(std::string_view head) {
  HttpRequest out;
  const auto request_line = next_line(head);
  if (!request_line) return RefusedRequest{400};
  if (const auto refused = read_request_line(*request_line, out)) return *refused;
  for (;;) {
    const auto line = next_line(head);
    if (!line) return RefusedRequest{400};
    if (line->empty()) break;
    if (!read_field(*line, out)) return RefusedRequest{400};
  }
  // A client of HTTP/1.0 may leave the host out, but then nothing shows which site its page belongs to.
  if (!has_unique_fields(out) || out.field("host").empty() || has_body(out)) return RefusedRequest{400};
  return out;
}

}  // namespace reckoner::web
