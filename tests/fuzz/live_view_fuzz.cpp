// SPDX-License-Identifier: MIT
// The live view: requests, hosts and origins, and the frames of a WebSocket.
#include "target.hpp"
#include "web/src/http/http_request.hpp"
#include "web/src/http/origin.hpp"
#include "web/src/http/web_socket_frames.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace reckoner::fuzz {
namespace {

constexpr std::size_t kMaxMessage = 1000;
constexpr std::size_t kMaxText = 300;

void read_any_request(std::string_view bytes) {
  const auto read = web::read_request(bytes);
  const bool early = !bytes.empty() && web::refuse_early(bytes).has_value();
  const auto* const request = std::get_if<web::HttpRequest>(&read);
  if (request == nullptr) return;
  check(!early, "what is refused early is refused in the end");
  check(request->path.starts_with('/'), "a path begins with a slash");
  const std::string host(request->field("host"));
  check(!host.empty(), "a request has a host");
  const std::vector<std::string> allowed{"https://game.example"};
  const std::string_view origin = request->field("origin");
  if (web::is_allowed_origin(origin, host, allowed))
    check(web::is_allowed_host(host, allowed), "a page needs an allowed host, too");
  check(!web::is_allowed_host(host + ".evil.example", allowed), "no name below another one is allowed");
  check(!web::is_allowed_host("evil." + host, allowed), "no name above another one is allowed");
}

struct Sink final : web::FrameSink {
  bool admit_frame(std::size_t) override {
    ++frames;
    return true;
  }
  bool on_message(std::span<const std::byte> bytes) override {
    check(bytes.size() <= kMaxMessage, "a message is not larger than the limit");
    ++messages;
    all.insert(all.end(), bytes.begin(), bytes.end());
    return true;
  }
  bool on_text(std::span<const std::byte> text) override {
    check(text.size() <= kMaxText, "a text is not larger than its limit");
    ++messages;
    all.insert(all.end(), text.begin(), text.end());
    return true;
  }
  bool on_ping(std::span<const std::byte> payload) override {
    check(payload.size() <= 125, "a ping fits into a pong");
    ++messages;
    return true;
  }
  void on_close() override { closed = true; }

  std::size_t frames = 0, messages = 0;
  Bytes all;
  bool closed = false;
};

// However the stream is cut, the reader sees the same.
void read_any_frames(std::span<const std::byte> bytes) {
  web::FrameReader whole(kMaxMessage, kMaxText), cut(kMaxMessage, kMaxText);
  Sink one, other;
  const auto why = whole.read(bytes, one);
  std::optional<Refusal> why_cut;
  for (std::size_t i = 0; i < bytes.size() && !why_cut; ++i)
    why_cut = cut.read(bytes.subspan(i, 1), other);
  check(why == why_cut && one.all == other.all && one.frames == other.frames && one.closed == other.closed,
        "a stream may arrive in parts");
  check(one.messages <= one.frames, "every message is counted as a frame");
}

Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

void run(std::span<const std::byte> input) {
  if (input.empty()) return;
  const auto rest = input.subspan(1);
  if (input.front() == kRaw)
    return read_any_request({reinterpret_cast<const char*>(rest.data()), rest.size()});
  read_any_frames(rest);
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> out;
  for (const std::string_view request :
       {"GET / HTTP/1.1\r\nHost: localhost:8080\r\nOrigin: http://localhost:8080\r\n\r\n",
        "HEAD /live.js HTTP/1.0\r\nHost: [::1]\r\nContent-Length: 0\r\n\r\n",
        "GET /?a HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: https://game.example\r\nConnection: keep-alive, "
        "Upgrade\r\n"
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        "Sec-WebSocket-Protocol: reckoner\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: game.example\r\nTransfer-Encoding: chunked\r\n\r\n"})
    out.push_back(marked(kRaw, bytes_of(request)));
  using namespace std::string_view_literals;
  for (const std::string_view frames :
       {"\x82\x83\0\0\0\0abc"sv,
        "\x89\x81\1\2\3\4x\x02\x81\0\0\0\0a\x80\x81\0\0\0\0b\x88\x82\0\0\0\0\3\xe8"sv,
        "\x82\xfe\0\x80\0\0\0\0"sv, "\x82\xff\0\0\0\0\0\1\0\0\0\0\0\0"sv})
    out.push_back(marked(kChoices, bytes_of(frames)));
  add_choices(out, 4, 60, kChoices);
  return out;
}

}  // namespace reckoner::fuzz
