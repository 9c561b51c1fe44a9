// SPDX-License-Identifier: MIT
#include "web/src/channel/channel_hub.hpp"

#include "net/src/transport/limits/allowance.hpp"
#include "net/src/transport/limits/traffic_limit.hpp"
#include "net/src/transport/socket/udp_socket.hpp"
#include "web/src/channel/server_channel.hpp"
#include "web/src/dtls/client_hello.hpp"
#include "web/src/dtls/dtls_session.hpp"
#include "web/src/ice/ice_lite.hpp"
#include "web/src/signalling/sdp.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include <openssl/rand.h>

namespace reckoner::web {
namespace {

// A browser never sends a refused packet or message. A few may come from one of another version.
constexpr std::size_t kMaxChannelRefusals = 32;

// A browser has a few addresses, one for each of its networks.
constexpr std::size_t kMaxAddresses = 4;

constexpr double kOfferBurstS = 10.0;
// Offers of one stream. A page offers again after 20 s, and then less often.
constexpr double kStreamOffersPerSecond = 0.2;
constexpr double kStreamOffers = 5.0;
constexpr double kTidyEveryS = 10.0;

struct SocketAddressHash {
  [[nodiscard]] std::size_t operator()(const SocketAddress& address) const {
    return IpAddressHash{}(address.host) * 31 + address.port;
  }
};

/// Random text of the characters that ICE allows, six random bits each. Empty without random numbers.
std::string random_text(std::size_t characters) {
  constexpr std::string_view kCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<unsigned char> random(characters);
  if (RAND_bytes(random.data(), static_cast<int>(characters)) != 1) return {};
  std::string text;
  for (const unsigned char each : random)
    text += kCharacters[each % kCharacters.size()];
  return text;
}

}  // namespace

struct ChannelHub::Impl {
  struct Peer {
    StreamId stream = 0;
    IpAddress host;  // of the stream
    Offer offer;
    std::string ufrag;  // ours
    std::vector<SocketAddress> checked;
    SocketAddress proven;  // where a cookie was returned from; valid if `hello` or `dtls`
    std::optional<HelloAssembly> hello;
    std::unique_ptr<DtlsSession> dtls;
    std::unique_ptr<ServerChannel> channel;
    RefusalCounts counted;  // of the channel's refusals
    double offered_s = 0.0;
    double heard_s = 0.0;
    bool is_open = false;
    TrafficMeter traffic;
  };

  Impl(const ChannelConfig& settings, DtlsContext context, const HelloCookies::Secret& secret, Send used_send)
      : config(settings),
        send(std::move(used_send)),
        dtls(std::move(context)),
        cookies(secret),
        traffic(settings.limits) {}

  void put(const SocketAddress& to, std::span<const std::byte> datagram) {
    ++stats.datagrams_sent;
    stats.wire_bytes_sent += wire_size(to.host, datagram.size());
    send(to, datagram);
  }

  void check(const SocketAddress& from, std::span<const std::byte> datagram, double now_s) {
    std::array<std::byte, kMaxBindingResponseBytes> out;
    const RefusalCounts before = ice.refusals();
    const auto answer = ice.receive(datagram, from, out);
    for (std::size_t i = 0; i < RefusalCounts::kReasons; ++i) {
      if (ice.refusals().counts[i] != before.counts[i]) stats.refuse(static_cast<Refusal>(i));
    }
    if (!answer) return;
    Peer& peer = *peers.at(answer->peer);
    peer.heard_s = now_s;
    note_address(peer, from);
    put(from, std::span(out).first(answer->bytes));
  }

  // The newest check decides whose address it is, unless a cookie has proven that it is another peer's.
  void note_address(Peer& peer, const SocketAddress& from) {
    Peer*& owner = at_address[from];
    if (owner == &peer) return;
    if (owner != nullptr) {
      if (owner->dtls && owner->proven == from) return stats.refuse(Refusal::peer_limit);
      std::erase(owner->checked, from);
    }
    owner = &peer;
    if (peer.checked.size() == kMaxAddresses) {
      const bool is_in_use = (peer.dtls || peer.hello) && peer.checked.front() == peer.proven;
      const auto oldest = peer.checked.begin() + (is_in_use ? 1 : 0);
      at_address.erase(*oldest);
      peer.checked.erase(oldest);
    }
    peer.checked.push_back(from);
  }

  void begin_dtls(Peer& peer, const SocketAddress& from, std::span<const std::byte> datagram, double now_s) {
    bool is_hello = false;
    while (const auto fragment = next_hello_fragment(datagram)) {
      is_hello = true;
      if (fragment->offset == 0 && !cookies.has_cookie(*fragment, from, now_s)) {
        if (const auto request = cookies.request(*fragment, from, now_s)) {
          ++stats.challenges;
          return put(from, *request);
        }
        return stats.refuse(Refusal::malformed);
      }
      // A browser may begin anew, or from another one of its addresses.
      if (fragment->offset == 0 && !(peer.hello && peer.proven == from && peer.hello->add(*fragment))) {
        peer.hello.emplace();
        peer.proven = from;
      }
      // The second part of a first hello comes without a cookie. It is not kept, and not worth a count.
      if (!peer.hello || peer.proven != from) return;
      if (!peer.hello->add(*fragment)) return stats.refuse(Refusal::malformed);
      if (peer.hello->is_complete()) return accept(peer);
    }
    if (!is_hello) stats.refuse(Refusal::unexpected);
  }

  void accept(Peer& peer) {
    const auto hello = peer.hello->record();
    peer.hello.reset();
    peer.dtls = DtlsSession::accept(
        dtls, peer.offer.fingerprint, hello,
        [this, to = peer.proven](std::span<const std::byte> datagram) { put(to, datagram); });
    if (peer.dtls) return;
    stats.refuse(Refusal::malformed);
    end(peer, true);
  }

  void take(Peer& peer, std::span<const std::byte> datagram, double now_s, double waited_s) {
    const bool is_genuine = peer.dtls->receive(datagram, [&](std::span<const std::byte> packet) {
      peer.heard_s = now_s;
      take_packet(peer, packet, now_s, waited_s);
    });
    if (!is_genuine) stats.refuse(Refusal::not_genuine);
    settle(peer);
  }

  void take_packet(Peer& peer, std::span<const std::byte> packet, double now_s, double waited_s) {
    if (const auto why = traffic.refuse(peer.traffic, peer.proven.host, packet.size(), now_s))
      return stats.refuse(*why);
    if (!peer.channel) peer.channel = ServerChannel::create(sctp, peer.offer.sctp_port, config.label);
    if (!peer.channel) return;
    peer.channel->receive(packet);
    while (const auto message = peer.channel->poll()) {
      note_open(peer);
      if (events.size() >= config.limits.waiting_events || event_bytes >= config.limits.waiting_event_bytes) {
        stats.refuse(Refusal::peer_limit);
        continue;
      }
      stats.payload_bytes_received += message->size();
      push({.kind = ChannelEvent::Kind::message,
            .stream = peer.stream,
            .payload = {message->begin(), message->end()},
            .waited_s = waited_s});
    }
    note_open(peer);
  }

  void note_open(Peer& peer) {
    if (peer.is_open || !peer.channel->is_open()) return;
    peer.is_open = true;
    --half_open;
    push({.kind = ChannelEvent::Kind::opened, .stream = peer.stream});
  }

  void push(ChannelEvent event) {
    event_bytes += event.payload.size();
    events.push_back(std::move(event));
  }

  // Sends what the peer's layers want to send, and ends the peer if one of them has ended. The peer may be
  // gone afterwards.
  void settle(Peer& peer) {
    if (peer.channel) {
      flush(peer);
      const RefusalCounts& refused = peer.channel->refusals();
      for (std::size_t i = 0; i < RefusalCounts::kReasons; ++i) {
        for (; peer.counted.counts[i] < refused.counts[i]; ++peer.counted.counts[i])
          stats.refuse(static_cast<Refusal>(i));
      }
    }
    if (peer.dtls && peer.dtls->has_wrong_certificate()) stats.refuse(Refusal::not_genuine);
    const bool has_ended = peer.dtls && (peer.dtls->state() == DtlsSession::State::ended ||
                                         peer.dtls->state() == DtlsSession::State::failed);
    if (has_ended || (peer.channel && peer.channel->has_ended()) ||
        peer.counted.total() > kMaxChannelRefusals)
      end(peer, true);
  }

  static void flush(Peer& peer) {
    peer.channel->flush([&](std::span<const std::byte> packet) { (void)peer.dtls->send(packet); });
  }

  void end(Peer& peer, bool notify) {
    if (peer.channel) {
      replaced += peer.channel->replaced();
      peer.channel->close();
      flush(peer);
    }
    if (peer.dtls) peer.dtls->close();
    if (!peer.is_open) --half_open;
    if (peer.is_open && notify) push({.kind = ChannelEvent::Kind::closed, .stream = peer.stream});
    for (const SocketAddress& each : peer.checked)
      at_address.erase(each);
    ice.forget(peer.ufrag);
    if (const auto at = at_host.find(peer.host.limited_host()); --at->second == 0) at_host.erase(at);
    peers.erase(peer.stream);
  }

  // Why an offer is refused, as a sentence for the browser, or null.
  const char* find_limit(StreamId stream, const IpAddress& host, double now_s) {
    // First the stream's own limit, so that one stream cannot use up the offers of others at its address.
    if (!offers_of[stream].spend(1.0, kStreamOffersPerSecond, kStreamOffers, now_s))
      return "Too many offers from this page: try again later.";
    const double depth = std::max(1.0, config.offers_per_second * kOfferBurstS);
    if (!offers[host].spend(1.0, config.offers_per_second, depth, now_s))
      return "Too many offers from this address: try again later.";
    if (peers.size() >= config.max_peers) return "The server has no more room for data channels.";
    if (half_open >= config.max_half_open) return "Too many data channels are opening: try again later.";
    const auto at = at_host.find(host);
    if (at != at_host.end() && at->second >= config.max_peers_per_host)
      return "Too many data channels from this address.";
    return nullptr;
  }

  void tidy(double now_s) {
    if (now_s - tidied_s < kTidyEveryS) return;
    tidied_s = now_s;
    const double depth = std::max(1.0, config.offers_per_second * kOfferBurstS);
    std::erase_if(offers,
                  [&](const auto& each) { return each.second.full(config.offers_per_second, depth, now_s); });
    std::erase_if(offers_of, [&](const auto& each) {
      return each.second.full(kStreamOffersPerSecond, kStreamOffers, now_s);
    });
  }

  ChannelConfig config;
  Send send;
  SctpStack sctp;  // outlives the peers
  DtlsContext dtls;
  HelloCookies cookies;
  IceLite ice;
  TrafficLimit traffic;
  std::unordered_map<StreamId, std::unique_ptr<Peer>> peers;
  std::unordered_map<SocketAddress, Peer*, SocketAddressHash> at_address;
  std::unordered_map<IpAddress, std::size_t, IpAddressHash> at_host;
  std::unordered_map<IpAddress, secure::Allowance, IpAddressHash> offers;
  std::unordered_map<StreamId, secure::Allowance> offers_of;
  std::size_t half_open = 0;
  std::deque<ChannelEvent> events;
  std::size_t event_bytes = 0;
  std::vector<StreamId> all;   // scratch
  std::uint64_t replaced = 0;  // of peers that are gone
  TransportStats stats;
  double tidied_s = -1e300;
};

ChannelHub::ChannelHub(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ChannelHub::~ChannelHub() {
  while (!impl_->peers.empty())
    impl_->end(*impl_->peers.begin()->second, false);
}

Result<std::unique_ptr<ChannelHub>> ChannelHub::create(const ChannelConfig& config, Send send) {
  if (auto error = find_invalid_setting(config)) return *error;
  auto context = DtlsContext::make();
  if (!context) return Error{context.error()};
  HelloCookies::Secret secret;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(secret.data()), static_cast<int>(secret.size())) != 1)
    return Error{"OpenSSL has no random numbers."};
  auto impl = std::make_unique<Impl>(config, std::move(*context), secret, std::move(send));
  return std::unique_ptr<ChannelHub>(new ChannelHub(std::move(impl)));
}

Result<std::string> ChannelHub::open_offer(StreamId stream, const IpAddress& host, std::string_view text,
                                           double now_s, const std::optional<SocketAddress>& reached) {
  Impl& s = *impl_;
  if (const auto found = s.peers.find(stream); found != s.peers.end()) s.end(*found->second, true);
  if (const char* const why = s.find_limit(stream, host.limited_host(), now_s)) {
    s.stats.refuse(Refusal::peer_limit);
    return Error{why};
  }
  auto offer = read_offer(text);
  if (!offer) {
    s.stats.refuse(Refusal::malformed);
    return Error{offer.error()};
  }
  const std::uint32_t most = (*offer).max_message_bytes;
  if (most != 0 && most < kMaxChannelMessageBytes) {
    s.stats.refuse(Refusal::beyond_limits);
    return Error{"The browser takes no messages of the size that the server sends."};
  }
  auto peer = std::make_unique<Impl::Peer>();
  peer->stream = stream;
  peer->host = host;
  peer->offer = std::move(*offer);
  peer->ufrag = random_text(8);
  peer->offered_s = peer->heard_s = now_s;
  const std::string password = random_text(24);
  if (peer->ufrag.empty() || password.empty() ||
      !s.ice.expect(stream, {peer->ufrag, password, peer->offer.ufrag}))
    return Error{"The server could not open a data channel: try again."};
  std::string answer = write_answer({.ufrag = peer->ufrag,
                                     .password = password,
                                     .fingerprint = s.dtls.fingerprint(),
                                     .mid = peer->offer.mid,
                                     .address = reached.value_or(s.config.address),
                                     .sctp_port = peer->offer.sctp_port,
                                     .max_message_bytes = kMaxChannelMessageBytes});
  s.peers[stream] = std::move(peer);
  ++s.at_host[host.limited_host()];
  ++s.half_open;
  return answer;
}

void ChannelHub::close(StreamId stream) {
  if (const auto found = impl_->peers.find(stream); found != impl_->peers.end())
    impl_->end(*found->second, false);
}

void ChannelHub::receive(const SocketAddress& from, std::span<const std::byte> datagram, double now_s,
                         double waited_s) {
  Impl& s = *impl_;
  ++s.stats.datagrams_received;
  s.stats.wire_bytes_received += wire_size(from.host, datagram.size());
  if (is_stun(datagram)) return s.check(from, datagram, now_s);
  if (!is_dtls(datagram)) return s.stats.refuse(Refusal::malformed);
  const auto found = s.at_address.find(from);
  if (found == s.at_address.end()) return s.stats.refuse(Refusal::no_session);
  Impl::Peer& peer = *found->second;
  if (peer.dtls) {
    s.take(peer, datagram, now_s, waited_s);
  } else {
    s.begin_dtls(peer, from, datagram, now_s);
  }
}

void ChannelHub::service(double now_s) {
  Impl& s = *impl_;
  s.sctp.advance(now_s);
  s.all.clear();
  for (const auto& [stream, peer] : s.peers)
    s.all.push_back(stream);
  for (const StreamId stream : s.all) {
    Impl::Peer& peer = *s.peers.at(stream);
    const bool is_late = !peer.is_open && now_s - peer.offered_s > s.config.open_s;
    const bool is_silent = now_s - peer.heard_s > (peer.is_open ? s.config.silence_s : s.config.open_s);
    if (is_late || is_silent) {
      s.end(peer, true);
      continue;
    }
    if (peer.dtls) peer.dtls->service();
    s.settle(peer);
  }
  s.traffic.tidy(now_s);
  s.tidy(now_s);
}

std::optional<ChannelEvent> ChannelHub::poll() {
  Impl& s = *impl_;
  if (s.events.empty()) return std::nullopt;
  ChannelEvent next = std::move(s.events.front());
  s.events.pop_front();
  s.event_bytes -= next.payload.size();
  return next;
}

bool ChannelHub::send(StreamId stream, std::span<const std::byte> message) {
  const auto found = impl_->peers.find(stream);
  if (found == impl_->peers.end() || !found->second->is_open) return false;
  Impl::Peer& peer = *found->second;
  if (!peer.channel->send(message)) return false;
  impl_->stats.payload_bytes_sent += message.size();
  Impl::flush(peer);
  return true;
}

bool ChannelHub::is_open(StreamId stream) const {
  const auto found = impl_->peers.find(stream);
  return found != impl_->peers.end() && found->second->is_open;
}

std::size_t ChannelHub::peers() const {
  return impl_->peers.size();
}

std::size_t ChannelHub::half_open() const {
  return impl_->half_open;
}

std::uint64_t ChannelHub::replaced() const {
  std::uint64_t sum = impl_->replaced;
  for (const auto& [stream, peer] : impl_->peers)
    sum += peer->channel ? peer->channel->replaced() : 0;
  return sum;
}

const TransportStats& ChannelHub::stats() const {
  return impl_->stats;
}

}  // namespace reckoner::web
