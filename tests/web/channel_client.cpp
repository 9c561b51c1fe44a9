// SPDX-License-Identifier: MIT
#include "tests/web/channel_client.hpp"

#include "tests/web/stun_samples.hpp"
#include "web/src/ice/stun_message.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace reckoner::test {
namespace {

constexpr double kCheckEveryS = 0.05;
constexpr double kConsentEveryS = 2.5;

std::string hex(const web::Fingerprint& fingerprint) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const std::byte byte : fingerprint) {
    const auto value = std::to_integer<unsigned>(byte);
    if (!out.empty()) out += ':';
    out += {kDigits[value / 16], kDigits[value % 16]};
  }
  return out;
}

std::string line_of(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) throw std::logic_error("the answer lacks " + std::string(name));
  const std::string_view rest = text.substr(at + name.size());
  return std::string(rest.substr(0, rest.find('\r')));
}

}  // namespace

std::vector<Bytes> parts_of_hello(std::span<const std::byte> datagram, std::size_t most) {
  constexpr std::size_t kHeads = 13 + 12;
  const auto hello = datagram.subspan(kHeads);
  const auto put = [](Bytes& out, std::size_t at, std::size_t bytes, std::size_t value) {
    for (std::size_t i = bytes; i-- > 0; value >>= 8)
      out[at + i] = static_cast<std::byte>(value & 0xff);
  };
  std::vector<Bytes> parts;
  for (std::size_t at = 0; at < hello.size(); at += most) {
    const auto part = hello.subspan(at, std::min(most, hello.size() - at));
    Bytes& out = parts.emplace_back(datagram.begin(), datagram.begin() + kHeads);
    put(out, 11, 2, 12 + part.size());
    put(out, 19, 3, at);
    put(out, 22, 3, part.size());
    out.insert(out.end(), part.begin(), part.end());
  }
  return parts;
}

ChannelClient::ChannelClient(Send send, Options options)
    : send_(std::move(send)), options_(std::move(options)), context_(std::move(*web::DtlsContext::make())) {}

std::string ChannelClient::offer() const {
  web::Fingerprint fingerprint = context_.fingerprint();
  if (options_.has_wrong_fingerprint) fingerprint[0] ^= std::byte{1};
  return "v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n"
         "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\nc=IN IP4 0.0.0.0\r\n"
         "a=ice-ufrag:" +
         ufrag_ + "\r\na=ice-pwd:" + password_ + "\r\na=fingerprint:sha-256 " + hex(fingerprint) +
         "\r\na=setup:actpass\r\na=mid:0\r\na=sctp-port:5000\r\na=max-message-size:262144\r\n";
}

void ChannelClient::take_answer(std::string_view answer) {
  server_ufrag_ = line_of(answer, "a=ice-ufrag:");
  server_password_ = line_of(answer, "a=ice-pwd:");
  const std::string text = line_of(answer, "a=fingerprint:sha-256 ");
  for (std::size_t i = 0; i < server_fingerprint_.size(); ++i)
    server_fingerprint_[i] = static_cast<std::byte>(std::stoul(text.substr(3 * i, 2), nullptr, 16));
  // "1 1 udp PRIORITY HOST PORT typ host"
  std::string candidate = line_of(answer, "a=candidate:1 1 udp ");
  candidate = candidate.substr(candidate.find(' ') + 1);
  const std::string host = candidate.substr(0, candidate.find(' '));
  server_ = *parse_host(host);
  server_.port = static_cast<std::uint16_t>(std::stoul(candidate.substr(host.size() + 1)));
}

Bytes ChannelClient::check() const {
  return browser_check(server_ufrag_ + ':' + ufrag_, server_password_, true);
}

void ChannelClient::receive(std::span<const std::byte> datagram) {
  if (web::is_stun(datagram)) {
    is_checked_ = true;
    if (!dtls_) {
      dtls_ = web::DtlsSession::connect(context_, server_fingerprint_,
                                        [this](std::span<const std::byte> out) { send_dtls(out); });
    }
  } else if (dtls_) {
    (void)dtls_->receive(datagram, [this](std::span<const std::byte> packet) {
      if (association_) association_->receive(packet);
    });
  }
  settle();
}

void ChannelClient::send_dtls(std::span<const std::byte> datagram) {
  const bool is_hello = datagram.size() > 25 && datagram[0] == std::byte{22} && datagram[3] == std::byte{0} &&
                        datagram[4] == std::byte{0} && datagram[13] == std::byte{1};
  if (!is_hello || options_.hello_part_bytes == 0) return send_(datagram);
  for (const Bytes& part : parts_of_hello(datagram, options_.hello_part_bytes))
    send_(part);
}

void ChannelClient::service(double now_s) {
  sctp_.advance(now_s);
  const double every_s = is_checked_ ? kConsentEveryS : kCheckEveryS;
  if (!server_ufrag_.empty() && !has_ended() && (!last_check_s_ || now_s - *last_check_s_ >= every_s)) {
    last_check_s_ = now_s;
    send_(check());
  }
  if (dtls_) dtls_->service();
  settle();
}

void ChannelClient::settle() {
  if (!dtls_ || dtls_->state() != web::DtlsSession::State::open) return;
  if (!association_)
    association_ = web::SctpAssociation::create(sctp_, web::SctpAssociation::Role::begins, 5000);
  while (const auto message = association_->poll()) {
    if (message->protocol == web::kOpenProtocol) {
      is_acknowledged_ = true;
    } else {
      messages_.push_back({message->protocol, {message->payload.begin(), message->payload.end()}});
    }
  }
  if (options_.opens && association_->is_open() && !std::exchange(has_opened_, true)) {
    return open(0, {.type = options_.type,
                    .reliability = options_.reliability,
                    .label = options_.label,
                    .protocol = {}});
  }
  association_->flush([this](std::span<const std::byte> packet) {
    sent_packets_.emplace_back(packet.begin(), packet.end());
    (void)dtls_->send(packet);
  });
}

void ChannelClient::open(std::uint16_t stream, const web::ChannelOpen& open) {
  (void)association_->send(stream, web::kOpenProtocol, web::write_channel_open(open),
                           web::SctpDelivery::reliable);
  settle();
}

bool ChannelClient::send(std::span<const std::byte> payload, std::uint32_t protocol, std::uint16_t stream) {
  if (!association_ || !association_->send(stream, protocol, payload, web::SctpDelivery::newest))
    return false;
  settle();
  return true;
}

void ChannelClient::send_packet(std::span<const std::byte> packet) {
  (void)dtls_->send(packet);
}

void ChannelClient::close() {
  if (association_) association_->close();
  settle();
  if (dtls_) dtls_->close();
}

bool ChannelClient::has_ended() const {
  return (association_ && association_->has_ended()) ||
         (dtls_ && (dtls_->state() == web::DtlsSession::State::ended ||
                    dtls_->state() == web::DtlsSession::State::failed));
}

}  // namespace reckoner::test
