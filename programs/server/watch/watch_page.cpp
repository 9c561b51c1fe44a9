// SPDX-License-Identifier: MIT
#include "programs/server/watch/watch_page.hpp"

#include "net/src/messages/messages.hpp"
#include "net/src/transport/pipe/pipe_server.hpp"
#include "programs/common/loop/clock.hpp"
#include "programs/common/security.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <libwebsockets.h>
#ifndef _WIN32
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#endif

#include <reckoner/net/forwarding_transport.hpp>
#include <reckoner/net/socket_address.hpp>

namespace reckoner::program {
namespace {

// States beyond this wait, bytes, are dropped. At 20 kB/s, it is about three seconds.
constexpr std::size_t kMaxWaitingStates = 64 * 1024;
// A reader for whom more than this waits, bytes, is disconnected.
constexpr std::size_t kMaxWaiting = 1024 * 1024;
// While more than this is unread by the server, bytes, a stream is not read. TCP then holds its sender back.
constexpr std::size_t kMaxUnread = 256 * 1024;
// Data in the kernel that TCP has not sent yet, bytes. Without this limit, a slow reader would get states
// that have waited for seconds in a send buffer of megabytes.
constexpr int kMaxUnsent = 16 * 1024;
// Connections, also those that load the page, in all and from one address.
constexpr unsigned kMaxConnections = 512;
constexpr std::size_t kMaxConnectionsPerHost = 48;
// A connection that does not complete its request or a handshake in this time is closed, s.
constexpr unsigned kTimeoutS = 5;

using Bytes = std::vector<std::byte>;

// The content of a header; empty if it is missing or too long.
std::string header(lws* socket, lws_token_indexes which) {
  std::array<char, 512> text{};
  const int size = lws_hdr_copy(socket, text.data(), static_cast<int>(text.size()), which);
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : std::string();
}

IpAddress host_of(lws* socket) {
  std::array<char, 64> text{};
  lws_get_peer_simple(socket, text.data(), text.size());
  const auto address = parse_host(text.data());
  return address ? address->host : IpAddress{};
}

void limit_unsent(lws* socket) {
#ifdef TCP_NOTSENT_LOWAT
  const int file = lws_get_socket_fd(socket);
  if (file >= 0) (void)setsockopt(file, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kMaxUnsent, sizeof kMaxUnsent);
#else
  (void)socket;
#endif
}

// What the thread of the sockets reports to the server's thread.
struct Arrival {
  enum class Kind : std::uint8_t { opened, message, closed, refused };
  Kind kind = Kind::message;
  pipe::StreamId stream = 0;
  double at_s = 0.0;
  IpAddress host{};
  Refusal why = Refusal::malformed;
  Bytes bytes{};
};

// One WebSocket. The lock of the page protects it, except for `socket` and `incoming`, which belong to the
// thread of the sockets.
struct Stream {
  lws* socket = nullptr;
  Bytes incoming{};             // fragments of a message
  std::deque<Bytes> waiting{};  // each with LWS_PRE bytes of room in front
  std::size_t waiting_bytes = 0;
  std::size_t unread_bytes = 0;
  bool held = false;  // not read until the server has read more
  bool closing = false;
};

}  // namespace

bool is_allowed_origin(std::string_view origin, std::string_view host,
                       const std::vector<std::string>& allowed) {
  if (std::ranges::find(allowed, origin) != allowed.end()) return true;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme) && !host.empty() && origin.substr(scheme.size()) == host) return true;
  }
  return false;
}

struct WatchPage::Impl {
  Impl(const WatchConfig& settings, WatchGate whom)
      : config(settings),
        gate(std::move(whom)),
        pipes({.max_peers = settings.max_watchers,
               .max_peers_per_host = settings.max_watchers_per_host,
               .limits = {}},
              {.send = [this](auto stream, auto message,
                              bool may_drop) { return queue(stream, message, may_drop); },
               .close = [this](auto stream) { close(stream); },
               .admit = [this](auto token, double at_s) { return admit(token, at_s); },
               .is_revoked = [this](const auto& login) { return gate.is_revoked(login); }}),
        transport(*this) {}

  ~Impl() {
    if (thread.joinable()) {
      const double until_s = monotonic_s() + 1.0;
      while (monotonic_s() < until_s && has_waiting())
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      stopping = true;
      lws_cancel_service(context);
      thread.join();
    }
    if (context != nullptr) lws_context_destroy(context);
  }

  // ---- On the thread of the sockets. ----

  static int on_event(lws* socket, lws_callback_reasons reason, void* session, void* in, std::size_t size) {
    auto* const self = static_cast<Impl*>(lws_context_user(lws_get_context(socket)));
    if (self == nullptr) return lws_callback_http_dummy(socket, reason, session, in, size);
    auto* const id = static_cast<pipe::StreamId*>(session);
    switch (reason) {
      case LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED:
        return self->on_connected(socket);
      case LWS_CALLBACK_WSI_DESTROY:
        self->on_gone(socket);
        return 0;
      case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return self->filter(socket);
      case LWS_CALLBACK_ESTABLISHED:
        return self->on_opened(socket, *id);
      case LWS_CALLBACK_RECEIVE:
        return self->on_bytes(socket, *id, {static_cast<const std::byte*>(in), size});
      case LWS_CALLBACK_SERVER_WRITEABLE:
        return self->on_writable(socket, *id);
      case LWS_CALLBACK_CLOSED:
        if (*id != 0) self->on_closed(*id);
        return 0;
      case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
        self->on_woken();
        return 0;
      default:
        return lws_callback_http_dummy(socket, reason, session, in, size);
    }
  }

  int on_connected(lws* socket) {
    const IpAddress host = host_of(socket).limited_host();
    std::size_t& count = at_host[host];
    if (count >= kMaxConnectionsPerHost) {
      report({.kind = Arrival::Kind::refused, .why = Refusal::address_limit});
      return -1;
    }
    ++count;
    connected[socket] = host;
    limit_unsent(socket);
    return 0;
  }

  void on_gone(lws* socket) {
    const auto found = connected.find(socket);
    if (found == connected.end()) return;
    if (const auto host = at_host.find(found->second); --host->second == 0) at_host.erase(host);
    connected.erase(found);
  }

  int filter(lws* socket) {
    // A client that asks for no known protocol would get the first one, which is for files.
    const lws_protocols* const protocol = lws_get_protocol(socket);
    const bool known = protocol != nullptr && std::strcmp(protocol->name, kProtocol) == 0;
    const bool allowed =
        is_allowed_origin(header(socket, WSI_TOKEN_ORIGIN), header(socket, WSI_TOKEN_HOST), config.origins);
    if (known && allowed) return 0;
    report({.kind = Arrival::Kind::refused, .why = known ? Refusal::wrong_origin : Refusal::unexpected});
    return 1;
  }

  int on_opened(lws* socket, pipe::StreamId& id) {
    id = ++newest;
    {
      const std::lock_guard hold(lock);
      streams[id].socket = socket;
    }
    report({.kind = Arrival::Kind::opened, .stream = id, .host = host_of(socket)});
    return 0;
  }

  // Reads a fragment. A message that would grow beyond the limit ends the connection before it arrives.
  int on_bytes(lws* socket, pipe::StreamId id, std::span<const std::byte> bytes) {
    std::unique_lock hold(lock);
    const auto found = streams.find(id);
    if (found == streams.end() || found->second.closing) return -1;
    Stream& stream = found->second;
    if (lws_is_first_fragment(socket) != 0) stream.incoming.clear();
    const std::size_t announced = lws_remaining_packet_payload(socket);
    const bool large = announced > pipe::kMaxMessageBytes ||
                       stream.incoming.size() + bytes.size() + announced > pipe::kMaxMessageBytes;
    if (large || lws_frame_is_binary(socket) == 0) {
      stream.closing = true;
      hold.unlock();
      report({.kind = Arrival::Kind::refused, .why = large ? Refusal::too_large : Refusal::malformed});
      return -1;
    }
    stream.incoming.insert(stream.incoming.end(), bytes.begin(), bytes.end());
    if (lws_is_final_fragment(socket) == 0) return 0;
    stream.unread_bytes += stream.incoming.size() + sizeof(Arrival);
    Arrival arrival{
        .kind = Arrival::Kind::message, .stream = id, .bytes = std::exchange(stream.incoming, {})};
    if (stream.unread_bytes > kMaxUnread) {
      stream.held = true;
      lws_rx_flow_control(socket, 0);
    }
    hold.unlock();
    report(std::move(arrival));
    return 0;
  }

  int on_writable(lws* socket, pipe::StreamId id) {
    Bytes next;
    bool more = false;
    {
      const std::lock_guard hold(lock);
      const auto found = streams.find(id);
      if (found == streams.end()) return -1;
      Stream& stream = found->second;
      if (stream.waiting.empty()) return stream.closing ? -1 : 0;
      next = std::move(stream.waiting.front());
      stream.waiting.pop_front();
      stream.waiting_bytes -= next.size() - LWS_PRE;
      more = !stream.waiting.empty() || stream.closing;
    }
    const std::size_t size = next.size() - LWS_PRE;
    const int written =
        lws_write(socket, reinterpret_cast<unsigned char*>(next.data()) + LWS_PRE, size, LWS_WRITE_BINARY);
    if (written < static_cast<int>(size)) return -1;
    if (more) lws_callback_on_writable(socket);
    return 0;
  }

  void on_closed(pipe::StreamId id) {
    {
      const std::lock_guard hold(lock);
      streams.erase(id);
    }
    report({.kind = Arrival::Kind::closed, .stream = id});
  }

  // The server's thread has queued messages, closed streams or read messages.
  void on_woken() {
    const std::lock_guard hold(lock);
    for (const pipe::StreamId id : touched) {
      const auto found = streams.find(id);
      if (found == streams.end()) continue;
      Stream& stream = found->second;
      if (!stream.waiting.empty() || stream.closing) lws_callback_on_writable(stream.socket);
      if (stream.closing) lws_set_timeout(stream.socket, PENDING_TIMEOUT_CLOSE_SEND, kTimeoutS);
      if (stream.held && stream.unread_bytes == 0) {
        stream.held = false;
        lws_rx_flow_control(stream.socket, 1);
      }
    }
    touched.clear();
  }

  void report(Arrival arrival) {
    arrival.at_s = monotonic_s();
    const std::lock_guard hold(lock);
    arrivals.push_back(std::move(arrival));
  }

  void run() {
    while (!stopping)
      (void)lws_service(context, 0);
  }

  // ---- On the server's thread. ----

  bool queue(pipe::StreamId id, std::span<const std::byte> message, bool may_drop) {
    const std::lock_guard hold(lock);
    const auto found = streams.find(id);
    if (found == streams.end() || found->second.closing) return false;
    Stream& stream = found->second;
    if (stream.waiting_bytes + message.size() > (may_drop ? kMaxWaitingStates : kMaxWaiting)) return false;
    Bytes& bytes = stream.waiting.emplace_back(LWS_PRE);
    bytes.insert(bytes.end(), message.begin(), message.end());
    stream.waiting_bytes += message.size();
    touch(id);
    return true;
  }

  // Lets the waiting messages leave first, for at most kTimeoutS.
  void close(pipe::StreamId id) {
    const std::lock_guard hold(lock);
    const auto found = streams.find(id);
    if (found == streams.end()) return;
    found->second.closing = true;
    touch(id);
  }

  // The caller holds the lock.
  void touch(pipe::StreamId id) {
    if (touched.empty()) lws_cancel_service(context);
    touched.insert(id);
  }

  [[nodiscard]] bool has_waiting() {
    const std::lock_guard hold(lock);
    return std::ranges::any_of(
        streams, [](const auto& each) { return each.second.closing || !each.second.waiting.empty(); });
  }

  void take_arrivals() {
    {
      const std::lock_guard hold(lock);
      std::swap(arrivals, taken);
      for (auto& [id, stream] : streams) {
        stream.unread_bytes = 0;
        if (stream.held) touch(id);
      }
    }
    const double now_s = monotonic_s();
    for (const Arrival& arrival : taken) {
      switch (arrival.kind) {
        case Arrival::Kind::opened:
          if (!pipes.opened(arrival.stream, arrival.host, now_s)) close(arrival.stream);
          break;
        case Arrival::Kind::message:
          pipes.received(arrival.stream, arrival.bytes, now_s, now_s - arrival.at_s);
          break;
        case Arrival::Kind::closed:
          pipes.closed(arrival.stream);
          break;
        case Arrival::Kind::refused:
          pipes.refused(arrival.why);
          break;
      }
    }
    taken.clear();
  }

  pipe::Admission admit(std::span<const std::byte> token, double at_s) {
    return gate.admit(token, at_s, unix_after(0.0));
  }

  void end_replaced() {
    gate.end_replaced([this](std::uint32_t seat) { pipes.end_seat(seat, pack({EndReason::replaced, 0})); });
  }

  // Reads what the thread has received before it serves the peers.
  struct Served final : ForwardingTransport {
    explicit Served(Impl& owner) : ForwardingTransport(owner.pipes), owner_(owner) {}
    void service(double) override {
      owner_.take_arrivals();
      owner_.end_replaced();
      owner_.pipes.service(monotonic_s());
    }
    Impl& owner_;
  };

  static constexpr const char* kProtocol = "reckoner";

  const WatchConfig config;
  WatchGate gate;
  lws_http_mount mount{};  // libwebsockets keeps its address
  lws_context* context = nullptr;
  std::uint16_t port = 0;
  std::atomic<bool> stopping = false;

  // Of the thread of the sockets.
  std::unordered_map<lws*, IpAddress> connected;
  std::unordered_map<IpAddress, std::size_t, IpAddressHash> at_host;
  pipe::StreamId newest = 0;

  // Protected by the lock.
  std::mutex lock;
  std::unordered_map<pipe::StreamId, Stream> streams;
  std::unordered_set<pipe::StreamId> touched;
  std::vector<Arrival> arrivals;

  // Of the server's thread.
  std::vector<Arrival> taken;
  pipe::PipeServer pipes;
  Served transport;

  std::thread thread;
};

WatchPage::WatchPage(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
WatchPage::~WatchPage() = default;

Result<std::unique_ptr<WatchPage>> WatchPage::open(const WatchConfig& config, WatchGate gate) {
  static const std::array<lws_protocols, 3> protocols{
      {{"http", &Impl::on_event, sizeof(pipe::StreamId), 0, 0, nullptr, 0},
       {Impl::kProtocol, &Impl::on_event, sizeof(pipe::StreamId), 4096, 0, nullptr, 0},
       {nullptr, nullptr, 0, 0, 0, nullptr, 0}}};
  static const lws_protocol_vhost_options wasm{nullptr, nullptr, ".wasm", "application/wasm"};
  // The page loads nothing from elsewhere, and no other page may frame it.
  static const lws_protocol_vhost_options frames{nullptr, nullptr, "x-content-type-options:", "nosniff"};
  static const lws_protocol_vhost_options policy{
      &frames, nullptr, "content-security-policy:",
      "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src "
      "'self' "
      "data:; connect-src 'self' ws: wss:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"};
  auto impl = std::make_unique<Impl>(config, std::move(gate));
  lws_http_mount& mount = impl->mount;
  mount.mountpoint = "/";
  mount.mountpoint_len = 1;
  mount.origin = impl->config.folder.c_str();
  mount.def = "live.html";
  mount.origin_protocol = LWSMPRO_FILE;
  mount.extra_mimetypes = &wasm;

  lws_set_log_level(0, nullptr);
  lws_context_creation_info info{};
  info.iface = impl->config.host.empty() ? nullptr : impl->config.host.c_str();
  info.port = config.port;
  info.protocols = protocols.data();
  info.headers = &policy;
  if (!config.folder.empty()) info.mounts = &impl->mount;
  info.user = impl.get();
  info.gid = static_cast<decltype(info.gid)>(-1);
  info.uid = static_cast<decltype(info.uid)>(-1);
  info.fd_limit_per_thread = kMaxConnections;
  info.timeout_secs = kTimeoutS;
  info.keepalive_timeout = kTimeoutS;
  info.options = LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND;
  if (config.host.find(':') == std::string::npos && !config.host.empty())
    info.options |= LWS_SERVER_OPTION_DISABLE_IPV6;
  if (!config.certificate.empty()) {
    info.options |= LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
    info.ssl_cert_filepath = impl->config.certificate.c_str();
    info.ssl_private_key_filepath = impl->config.certificate.c_str();
  }
  impl->context = lws_create_context(&info);
  if (impl->context == nullptr)
    return Error{"could not serve the live view on " + config.host + ':' + std::to_string(config.port) +
                 ": the address is in use or not of this machine, or the certificate cannot be read"};
  lws_vhost* const host = lws_get_vhost_by_name(impl->context, "default");
  const int port = host != nullptr ? lws_get_vhost_listen_port(host) : 0;
  if (port <= 0) return Error{"could not serve the live view on " + config.host};
  impl->port = static_cast<std::uint16_t>(port);
  impl->thread = std::thread([self = impl.get()] { self->run(); });
  return std::unique_ptr<WatchPage>(new WatchPage(std::move(impl)));
}

Transport& WatchPage::transport() {
  return impl_->transport;
}
void WatchPage::send_status(std::string_view text) {
  impl_->pipes.send_status(text);
}
std::size_t WatchPage::watchers() const {
  return impl_->pipes.peers();
}
std::uint16_t WatchPage::port() const {
  return impl_->port;
}

}  // namespace reckoner::program
