// SPDX-License-Identifier: MIT
// STUN messages from strangers, and from a browser that knows the password.
#include "target.hpp"
#include "web/src/ice/ice_lite.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace reckoner::fuzz {
namespace {

constexpr std::string_view kSecret = "ourpasswordourpassword";

// A check with the password kSecret, as browser_check() in tests/web/stun_samples.cpp makes it.
constexpr unsigned char kCheck[] = {
    0x00, 0x01, 0x00, 0x50, 0x21, 0x12, 0xa4, 0x42, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09,
    0x0a, 0x0b, 0x0c, 0x00, 0x06, 0x00, 0x09, 0x6f, 0x75, 0x72, 0x73, 0x3a, 0x74, 0x68, 0x65, 0x6d, 0x00,
    0x00, 0x00, 0xc0, 0x57, 0x00, 0x04, 0x00, 0x01, 0x00, 0x0a, 0x80, 0x2a, 0x00, 0x08, 0x74, 0x69, 0x65,
    0x62, 0x72, 0x65, 0x61, 0x6b, 0x00, 0x25, 0x00, 0x00, 0x00, 0x24, 0x00, 0x04, 0x70, 0x72, 0x69, 0x6f,
    0x00, 0x08, 0x00, 0x14, 0x80, 0xf6, 0x5f, 0x27, 0xdd, 0xa6, 0x19, 0xcd, 0x10, 0x5a, 0xd8, 0xe9, 0xb3,
    0x33, 0x24, 0x06, 0x29, 0x6b, 0xde, 0x79, 0x80, 0x28, 0x00, 0x04, 0x22, 0xe8, 0x1f, 0x9a};

void receive(std::span<const std::byte> datagram) {
  web::IceLite ice;
  check(ice.expect(7, {"ours", std::string(kSecret), "them"}), "the first peer is expected");
  SocketAddress from = *parse_host("2001:db8::1");
  from.port = 4000;
  std::array<std::byte, web::kMaxBindingResponseBytes> out{};
  const auto answer = ice.receive(datagram, from, out);
  const auto request = web::read_binding_request(datagram);
  check(request || !answer, "only what can be read is answered");
  if (!answer) return check(ice.refusals().total() == 1, "a refusal is counted once");
  check(web::is_genuine(*request, datagram, kSecret), "only genuine requests are answered");
  check(answer->peer == 7, "the answer is that of the peer");
  check(answer->bytes < datagram.size(), "an answer is shorter than its request");
}

}  // namespace

void run(std::span<const std::byte> input) {
  receive(input);
}

std::vector<Bytes> seeds() {
  const auto check_bytes = std::as_bytes(std::span(kCheck));
  std::vector<Bytes> out{{check_bytes.begin(), check_bytes.end()}};
  add_choices(out, 3, 100, std::byte{0});
  return out;
}

}  // namespace reckoner::fuzz
