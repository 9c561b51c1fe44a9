// SPDX-License-Identifier: MIT
// Messages of a stream (WebSocket), at the server and at the client.
#include "net/src/transport/pipe/pipe_message.hpp"
#include "target.hpp"

#include <algorithm>
#include <utility>

#include <reckoner/net/pipe_server.hpp>
#include <reckoner/net/pipe_transport.hpp>

namespace reckoner::fuzz {
namespace {

void check_message(std::span<const std::byte> bytes) {
  const auto message = pipe::read(bytes);
  if (!message) return;
  Bytes again;
  pipe::write(*message, again);
  check(std::ranges::equal(again, bytes), "a message is written as it was read");
}

// Splits the input into messages: a length byte, then the message. Both ends get each of them.
void converse(std::span<const std::byte> input) {
  std::size_t connected = 0;
  const auto admit = [](std::span<const std::byte> token, const IpAddress&) -> Admission {
    if (!token.empty()) return {.refusal = Refusal::wrong_token};
    return {};
  };
  PipeServer server = std::move(*PipeServer::create(
      {}, {.send = [](StreamId, std::span<const std::byte>, bool) { return true; }, .close = [](StreamId) {}},
      {.admit = admit}));
  PipeTransport client([](std::span<const std::byte>) { return true; });
  client.opened();
  check(server.opened(1, IpAddress(1), 0.0), "the first stream is welcome");
  double now_s = 0.0;
  while (!input.empty()) {
    const std::size_t size =
        std::min<std::size_t>(std::to_integer<std::size_t>(input.front()), input.size() - 1);
    const auto bytes = input.subspan(1, size);
    input = input.subspan(1 + size);
    check_message(bytes);
    server.received(1, bytes, now_s += 0.001);
    client.received(bytes, now_s);
    while (const auto event = server.poll()) {
      connected += event->kind == TransportEvent::Kind::connected ? 1 : 0;
      check(connected > 0, "nothing comes from a peer that has not joined");
      check(event->payload.size() <= kMaxDatagramBytes, "payloads are within the limits");
    }
    while (client.poll()) {
    }
  }
  check(connected <= 1, "a peer joins once");
}

}  // namespace

void run(std::span<const std::byte> input) {
  if (input.empty()) return;
  if (input.front() == kRaw) return check_message(input.subspan(1));
  converse(input.subspan(1));
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> out;
  Bytes talk;
  for (const pipe::Kind kind :
       {pipe::Kind::hello, pipe::Kind::welcome, pipe::Kind::state, pipe::Kind::status, pipe::Kind::bye}) {
    const bool has_body = kind == pipe::Kind::state || kind == pipe::Kind::status;
    const Bytes body(has_body ? 5 : 0, std::byte{'x'});
    Bytes bytes;
    pipe::write({.kind = kind, .reason = 7, .body = body}, bytes);
    out.push_back(marked(kRaw, bytes));
    talk.push_back(static_cast<std::byte>(bytes.size()));
    talk.insert(talk.end(), bytes.begin(), bytes.end());
    out.push_back(marked(kChoices, talk));
  }
  add_choices(out, 6, 60, kChoices);
  return out;
}

}  // namespace reckoner::fuzz
