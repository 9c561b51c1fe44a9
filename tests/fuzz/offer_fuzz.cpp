// SPDX-License-Identifier: MIT
// The offer of a browser, as text.
#include "target.hpp"
#include "web/src/signalling/sdp.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace reckoner::fuzz {
namespace {

constexpr std::string_view kOffer =
    "v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0\r\n"
    "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\nc=IN IP4 0.0.0.0\r\n"
    "a=ice-ufrag:4ZcD\r\na=ice-pwd:2/1muCWoOi3uLifh0NuRHlNo\r\n"
    "a=fingerprint:sha-256 00:01:02:03:04:05:06:07:08:09:0A:0B:0C:0D:0E:0F:"
    "10:11:12:13:14:15:16:17:18:19:1A:1B:1C:1D:1E:FF\r\n"
    "a=setup:actpass\r\na=mid:0\r\na=sctp-port:5000\r\na=max-message-size:262144\r\n";

// How often `line` begins a line of `text`.
std::size_t lines_with(std::string_view text, std::string_view line) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(line, at)) != std::string_view::npos; ++at)
    count += at == 0 || text[at - 1] == '\n' ? 1 : 0;
  return count;
}

}  // namespace

void run(std::span<const std::byte> input) {
  const auto offer = web::read_offer({reinterpret_cast<const char*>(input.data()), input.size()});
  if (!offer) {
    const std::string_view error = offer.error();
    return check(error.size() < 100 && error.ends_with('.'), "an error is one sentence");
  }
  check(input.size() <= web::kMaxOfferBytes, "a long offer is refused");
  check((*offer).ufrag.size() >= 4 && (*offer).ufrag.size() <= 32, "the user name is within limits");
  check((*offer).password.size() >= 22 && (*offer).password.size() <= 128, "the password is within limits");
  check((*offer).sctp_port != 0, "a port is not zero");
  // What comes from the browser goes into our answer, and must add no line to it.
  const std::string answer = web::write_answer({.ufrag = (*offer).ufrag,
                                                .password = (*offer).password,
                                                .fingerprint = (*offer).fingerprint,
                                                .mid = (*offer).mid});
  check(std::ranges::count(answer, '\n') == 17, "the answer has its lines and no more");
  check(lines_with(answer, "a=mid:" + (*offer).mid + "\r\n") == 1, "the answer names the section");
}

std::vector<Bytes> seeds() {
  const auto bytes = std::as_bytes(std::span(kOffer));
  return {{bytes.begin(), bytes.end()}};
}

}  // namespace reckoner::fuzz
