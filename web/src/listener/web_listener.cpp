// SPDX-License-Identifier: MIT
#include "net/src/transport/limits/traffic_limit.hpp"
#include "net/src/transport/pipe/pipe_message.hpp"
#include "net/src/transport/platform.hpp"
#include "web/src/dtls/certificate.hpp"
#include "web/src/http/http_request.hpp"
#include "web/src/http/origin.hpp"
#include "web/src/http/page_files.hpp"
#include "web/src/http/web_socket_frames.hpp"
#include "web/src/listener/connection_table.hpp"
#include "web/src/listener/data_channels.hpp"
#include "web/src/listener/listening_socket.hpp"
#include "web/src/listener/side_channels.hpp"
#include "web/src/listener/token_entrance.hpp"
#include "web/src/signalling/signal_message.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>

#include <libwebsockets.h>
#include <sys/socket.h>
#include <unistd.h>

#include <reckoner/net/pipe_server.hpp>
#include <reckoner/net/socket_address.hpp>
#include <reckoner/net/token_gate.hpp>
#include <reckoner/web/web_listener.hpp>

namespace reckoner {
namespace {

using namespace web;

// States beyond this wait, bytes, are dropped. At 20 kB/s, it is about three seconds.
constexpr std::size_t kMaxWaitingStates = 64 * 1024;
// While more than this is unread by the server, bytes, a stream is not read. TCP then stops its sender.
constexpr std::size_t kMaxUnread = 256 * 1024;
// Connections that are accepted before others are served again.
constexpr std::size_t kMaxAcceptedAtOnce = 32;
// A closed stream may take this long to send what waits, s.
constexpr double kCloseS = 5.0;
// A file may take a second longer for each of these bytes, so that slow connections can load the page.
constexpr double kSlowestBytesPerS = 64 * 1024;
// After its last byte, the server waits this long for the client to close the connection, s. If it closed at
// once, data of the client in flight could make TCP discard the last bytes.
constexpr double kLingerS = 1.0;
// Bytes of a client that are read and ignored meanwhile.
constexpr std::size_t kMaxIgnored = 64 * 1024;
// Frames and reads of a client that has not joined, per second and in bytes per second; two seconds' worth at
// once. Only its connection is charged. If its address were, it could use up the share of those who joined.
constexpr double kStrangerFrames = 200.0;
constexpr double kStrangerBytes = 64 * 1024;
// Refused frames and messages, and frames beyond a limit, until the connection is closed.
constexpr std::size_t kMaxRefused = 32;
// How long the server's thread sleeps at most while clients may send over data channels.
constexpr double kChannelWaitS = 0.005;
// Bytes of a file that are written at once.
constexpr std::size_t kPartBytes = 16 * 1024;
// How often deadlines are checked, microseconds.
constexpr lws_usec_t kSweepUs = 100'000;

constexpr std::string_view kSubprotocol = "reckoner";
// Chosen if the client lists it, too: tells that offers are welcome. A server without channels would close
// the connection after an offer.
constexpr std::string_view kSubprotocolWithChannels = "reckoner.channels";

using Bytes = std::vector<std::byte>;

// What the thread of the sockets reports to the server's thread.
struct Arrival {
  enum class Kind : std::uint8_t { opened, message, offer, channel_left, closed };
  Kind kind = Kind::message;
  StreamId stream = 0;
  double at_s = 0.0;
  IpAddress host{};
  IpAddress reached{};
  Bytes bytes{};
};

// What both threads know of a WebSocket whose client has said hello. The lock of the listener protects it.
struct Stream {
  std::deque<Bytes> waiting{};  // whole frames
  std::size_t waiting_bytes = 0;
  std::size_t unread_bytes = 0;
  bool paused = false;  // not read until the server has read more
  bool joined = false;  // the server has admitted the client
  bool closing = false;
  bool closed = false;  // its last frame was written
};

// One TCP connection. Belongs to the thread of the sockets.
struct Connection {
  enum class Phase : std::uint8_t {
    request,  // reads the head of the request
    answer,   // writes an answer
    stream,   // is a WebSocket
    ending,   // has written everything; waits for the client
  };

  explicit Connection(std::size_t max_text) : frames(PipeServer::kMaxMessageBytes, max_text) {}

  ConnectionId id = 0;  // also of its stream
  lws* socket = nullptr;
  IpAddress host{};
  IpAddress reached{};  // the address of this machine
  Phase phase = Phase::request;
  bool doomed = false;  // libwebsockets is about to close it

  std::string head{};                         // of the request, as far as it has arrived
  std::string answer{};                       // is written first
  std::shared_ptr<const std::string> file{};  // then this; null: none
  std::size_t written = 0;                    // bytes of the file

  FrameReader frames;
  TrafficMeter traffic{};
  std::size_t refused = 0;
  bool said_hello = false;
  bool joined = false;  // the server has admitted the client
  std::optional<Bytes> pong{};
  bool closed_by_client = false;

  bool closing = false;   // after everything that waits, the connection ends
  bool complete = false;  // the last byte was given to libwebsockets
  bool blocked = false;   // libwebsockets still has bytes that the socket did not take
  bool paused = false;    // see Stream
  std::size_t ignored = 0;
};

// The value that proves to the client that its request was understood (RFC 6455, 4.2.2).
std::string accept_value(std::string_view key) {
  const std::string text = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, 20> digest{};
  lws_SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::array<char, 64> out{};
  lws_b64_encode_string(reinterpret_cast<const char*>(digest.data()), static_cast<int>(digest.size()),
                        out.data(), static_cast<int>(out.size()));
  return out.data();
}

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 421:
      return "Misdirected Request";
    case 431:
      return "Request Header Fields Too Large";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Bad Request";
  }
}

// Every connection serves one request: so one deadline bounds it.
std::string answer_head(int status, std::string_view type, std::size_t bytes, std::string_view policy) {
  std::string out = "HTTP/1.1 " + std::to_string(status) + ' ';
  out += reason_of(status);
  out += "\r\ncontent-type: ";
  out += type;
  out += "\r\ncontent-length: " + std::to_string(bytes);
  if (status == 405) out += "\r\nallow: GET, HEAD";
  out +=
      "\r\nconnection: close\r\n"
      "cache-control: no-cache\r\n"
      "x-content-type-options: nosniff\r\n"
      "content-security-policy: ";
  out += policy;
  out += "\r\n\r\n";
  return out;
}

}  // namespace

struct WebListener::Impl {
  Impl(const WebConfig& settings, PipeGate gate, std::unique_ptr<SideChannels> side)
      : config(settings),
        files(settings.folder, settings.front_page),
        // Half of the descriptors stay for the rest of the process.
        table(std::min(std::max<std::size_t>(descriptor_limit() / 2, 4), settings.max_connections),
              settings.max_connections_per_host),
        traffic(settings.limits),
        pipes(std::move(
            *PipeServer::create({.max_peers = settings.max_peers,
                                 .max_peers_per_host = settings.max_peers_per_host,
                                 .join_s = settings.join_s,
                                 .limits = settings.limits},
                                {.send = [this](auto stream, auto message,
                                                bool may_drop) { return send(stream, message, may_drop); },
                                 .close = [this](auto stream) { close(stream); }},
                                std::move(gate)))),
        channels(std::move(side)) {}

  ~Impl() {
    if (thread.joinable()) {
      const double until_s = steady_seconds() + 1.0;
      while (steady_seconds() < until_s && has_waiting())
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      stopping = true;
      lws_cancel_service(context);
      thread.join();
    }
    if (context != nullptr) {
      lws_sul_schedule(context, 0, &sweep.timer, nullptr, LWS_SET_TIMER_USEC_CANCEL);
      lws_context_destroy(context);
    }
  }

  // ---- On the thread of the sockets. ----

  static int on_event(lws* socket, lws_callback_reasons reason, void* /*session*/, void* in,
                      std::size_t size) {
    auto* const self = static_cast<Impl*>(lws_context_user(lws_get_context(socket)));
    if (self == nullptr) return 0;
    switch (reason) {
      case LWS_CALLBACK_RAW_RX_FILE:
        self->on_connections_waiting();
        return 0;
      case LWS_CALLBACK_RAW_RX:
        return self->on_bytes(socket, {static_cast<const std::byte*>(in), size});
      case LWS_CALLBACK_RAW_WRITEABLE:
        return self->on_writable(socket);
      case LWS_CALLBACK_WSI_DESTROY:
        self->on_gone(socket);
        return 0;
      case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
        self->on_woken();
        return 0;
      default:
        return 0;
    }
  }

  // libwebsockets could accept connections itself. But without a free descriptor it would try for ever, on a
  // whole processor, and it would close new connections instead of old ones.
  void on_connections_waiting() {
    for (std::size_t i = 0; i < kMaxAcceptedAtOnce; ++i) {
      const Accepted next = accept_connection(lws_get_socket_fd(listener));
      if (next.outcome == Accepted::Outcome::none) return;
      if (next.outcome == Accepted::Outcome::no_descriptors) return make_room();
      begin(next.file, next.host, next.reached);
    }
  }

  void begin(int file, const IpAddress& host, const IpAddress& reached) {
    const auto [id, evicted] = table.add(host, steady_seconds() + config.join_s);
    if (id == 0 || evicted != 0) count(Refusal::address_limit);
    if (evicted != 0) doom(evicted);
    if (id == 0) {
      ::close(file);
      return;
    }
    lws_sock_file_fd_type descriptor{};
    descriptor.sockfd = file;
    constexpr int kRawWithTls = LWS_ADOPT_SOCKET | LWS_ADOPT_ALLOW_SSL;
    // If it fails, it closes the socket.
    lws* const socket = lws_adopt_descriptor_vhost(vhost, static_cast<lws_adoption_type>(kRawWithTls),
                                                   descriptor, protocol_name(), nullptr);
    if (socket == nullptr) return table.remove(id);
    Connection& connection =
        connections.try_emplace(socket, channels != nullptr ? kMaxSignalBytes : 0).first->second;
    connection.id = id;
    connection.socket = socket;
    connection.host = host;
    connection.reached = reached;
    by_id[id] = &connection;
    connection_count = connections.size();
  }

  // No descriptor is free. One of an unfinished connection becomes free in the next pass. Without any, the
  // newcomers wait until the next sweep.
  void make_room() {
    if (const ConnectionId evicted = table.evict()) {
      count(Refusal::address_limit);
      return doom(evicted);
    }
    is_paused = true;
    lws_rx_flow_control(listener, 0);
  }

  // Closes a connection as soon as this callback is over. It is no longer in the table.
  void doom(ConnectionId id) {
    const auto found = by_id.find(id);
    if (found == by_id.end() || found->second->doomed) return;
    found->second->doomed = true;
    lws_set_timeout(found->second->socket, PENDING_TIMEOUT_CLOSE_SEND, LWS_TO_KILL_ASYNC);
  }

  void on_gone(lws* socket) {
    const auto found = connections.find(socket);
    if (found == connections.end()) return;
    const ConnectionId id = found->second.id;
    const bool had_stream = found->second.said_hello;
    table.remove(id);
    by_id.erase(id);
    connections.erase(found);
    connection_count = connections.size();
    if (!had_stream) return;
    {
      const std::lock_guard guard(lock);
      streams.erase(id);
    }
    report({.kind = Arrival::Kind::closed, .stream = id});
  }

  void on_sweep() {
    const double now_s = steady_seconds();
    for (const ConnectionId id : table.remove_late(now_s))
      doom(id);
    traffic.tidy(now_s);
    if (std::exchange(is_paused, false)) lws_rx_flow_control(listener, 1);
    schedule_sweep();
  }

  void schedule_sweep() {
    sweep.listener = this;
    lws_sul_schedule(
        context, 0, &sweep.timer,
        [](lws_sorted_usec_list_t* timer) { reinterpret_cast<Sweep*>(timer)->listener->on_sweep(); },
        kSweepUs);
  }

  int on_bytes(lws* socket, std::span<const std::byte> bytes) {
    const auto found = connections.find(socket);
    if (found == connections.end() || found->second.doomed) return -1;
    Connection& connection = found->second;
    switch (connection.phase) {
      case Connection::Phase::request:
        return on_request_bytes(connection, bytes);
      case Connection::Phase::stream:
        if (!connection.closing) return on_frame_bytes(connection, bytes);
        [[fallthrough]];
      default:
        connection.ignored += bytes.size();
        return connection.ignored > kMaxIgnored ? -1 : 0;
    }
  }

  int on_request_bytes(Connection& connection, std::span<const std::byte> bytes) {
    // libwebsockets has its own time limits for TLS handshakes and for what follows. The table's are
    // stricter.
    lws_set_timeout(connection.socket, NO_PENDING_TIMEOUT, 0);
    std::string& head = connection.head;
    const std::size_t old_size = head.size();
    const std::size_t count = std::min(bytes.size(), kMaxRequestBytes - old_size);
    head.append(reinterpret_cast<const char*>(bytes.data()), count);
    if (const auto refused_now = refuse_early(head))
      return refuse_request(connection, refused_now->status, Refusal::unexpected);
    const std::size_t end = head.find("\r\n\r\n", old_size < 3 ? 0 : old_size - 3);
    if (end == std::string::npos)
      return head.size() < kMaxRequestBytes ? 0 : refuse_request(connection, 431, Refusal::too_large);
    const std::size_t size = end + 4;
    const auto read = read_request(std::string_view(head).substr(0, size));
    std::string().swap(head);
    if (const auto* const refused_now = std::get_if<RefusedRequest>(&read))
      return refuse_request(connection, refused_now->status, Refusal::malformed);
    const auto& request = std::get<HttpRequest>(read);
    if (!is_allowed_host(request.field("host"), config.origins, config.host))
      return refuse_request(connection, 421, Refusal::wrong_origin);
    if (!request.lists("upgrade", "websocket")) return serve_file(connection, request);
    const int result = open_web_socket(connection, request);
    const auto rest = bytes.subspan(size - old_size);
    const bool goes_on = result == 0 && connection.phase == Connection::Phase::stream && !rest.empty();
    return goes_on ? on_frame_bytes(connection, rest) : result;
  }

  int refuse_request(Connection& connection, int status, Refusal why) {
    count(why);
    const int result =
        answer(connection, status, "text/plain", std::make_shared<const std::string>(reason_of(status)));
    table.advance(connection.id, Progress::over);
    return result;
  }

  int answer(Connection& connection, int status, std::string_view type,
             std::shared_ptr<const std::string> file, bool head_only = false) {
    std::string().swap(connection.head);
    connection.answer = answer_head(status, type, file->size(), config.content_policy);
    if (!head_only) connection.file = std::move(file);
    connection.phase = Connection::Phase::answer;
    table.advance(connection.id, Progress::answer);
    lws_callback_on_writable(connection.socket);
    return 0;
  }

  int serve_file(Connection& connection, const HttpRequest& request) {
    const auto found = files.find(request.path);
    if (!found)
      return answer(connection, 404, "text/plain", std::make_shared<const std::string>(reason_of(404)),
                    request.head_only);
    table.extend(connection.id, static_cast<double>(found->bytes->size()) / kSlowestBytesPerS);
    return answer(connection, 200, found->type, found->bytes, request.head_only);
  }

  int open_web_socket(Connection& connection, const HttpRequest& request) {
    if (!request.opens_web_socket()) return refuse_request(connection, 400, Refusal::malformed);
    if (!request.lists("sec-websocket-protocol", kSubprotocol))
      return refuse_request(connection, 403, Refusal::unexpected);
    if (!may_connect(request)) return refuse_request(connection, 403, Refusal::wrong_origin);
    limit_unjoined(connection);
    connection.answer =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Accept: " +
        accept_value(request.field("sec-websocket-key")) + "\r\nSec-WebSocket-Protocol: ";
    const bool with_channels =
        channels != nullptr && request.lists("sec-websocket-protocol", kSubprotocolWithChannels);
    connection.answer += with_channels ? kSubprotocolWithChannels : kSubprotocol;
    connection.answer += "\r\n\r\n";
    connection.phase = Connection::Phase::stream;
    table.advance(connection.id, Progress::answer);
    lws_callback_on_writable(connection.socket);
    return 0;
  }

  [[nodiscard]] bool may_connect(const HttpRequest& request) const {
    const bool nameless = std::ranges::none_of(
        request.fields, [](const HttpRequest::Field& field) { return field.name == "origin"; });
    if (nameless) return config.without_origin;
    return is_allowed_origin(request.field("origin"), request.field("host"), config.origins, config.host);
  }

  // No address needs more WebSockets that have not said hello than it may have clients. The oldest one makes
  // place: its client has had the most time.
  void limit_unjoined(const Connection& newest) {
    ConnectionId oldest = 0;
    std::size_t unjoined = 1;
    for (const auto& [socket, each] : connections) {
      const bool counts = each.phase == Connection::Phase::stream && !each.said_hello && !each.doomed &&
                          !each.closing && each.host.limited_host() == newest.host.limited_host();
      if (!counts) continue;
      ++unjoined;
      if (oldest == 0 || each.id < oldest) oldest = each.id;
    }
    if (unjoined <= config.max_peers_per_host) return;
    count(Refusal::peer_limit);
    table.remove(oldest);
    doom(oldest);
  }

  // The frames of one connection. Every frame counts in the limits, and so does every read: a client could
  // send one frame in thousands of tiny parts.
  struct Frames final : FrameSink {
    Frames(Impl& to, Connection& of) : listener(to), connection(of) {}
    bool admit_frame(std::size_t bytes) override {
      any = true;
      return listener.charge(connection, bytes);
    }
    bool on_message(std::span<const std::byte> bytes) override {
      return listener.on_message(connection, bytes);
    }
    bool on_text(std::span<const std::byte> text) override { return listener.on_text(connection, text); }
    bool on_ping(std::span<const std::byte> payload) override {
      // A newer ping replaces one that is not answered yet (RFC 6455, 5.5.3).
      Bytes& pong = connection.pong.emplace();
      write_frame_header(kPongFrame, payload.size(), pong);
      pong.insert(pong.end(), payload.begin(), payload.end());
      lws_callback_on_writable(connection.socket);
      return true;
    }
    void on_close() override { connection.closed_by_client = true; }

    Impl& listener;
    Connection& connection;
    bool any = false;
  };

  int on_frame_bytes(Connection& connection, std::span<const std::byte> bytes) {
    Frames sink(*this, connection);
    if (const auto why = connection.frames.read(bytes, sink)) {
      count(*why);
      return -1;
    }
    if (!sink.any) (void)charge(connection, 0);
    if (connection.refused > kMaxRefused) return -1;
    if (connection.closed_by_client) {
      connection.closing = true;
      lws_callback_on_writable(connection.socket);
    }
    return 0;
  }

  bool charge(Connection& connection, std::size_t bytes) {
    TrafficLimit& limit = connection.joined ? traffic : strangers;
    const auto why = limit.refuse(connection.traffic, connection.host, bytes, steady_seconds());
    if (why) refuse(connection, *why);
    return !why;
  }

  void refuse(Connection& connection, Refusal why) {
    count(why);
    ++connection.refused;
  }

  // Before its hello, a client has no place among the peers, and so cannot keep others out.
  bool on_message(Connection& connection, std::span<const std::byte> bytes) {
    if (connection.refused > kMaxRefused) return false;
    if (!connection.said_hello) {
      const auto message = pipe::read(bytes);
      if (!message || message->kind != pipe::Kind::hello) {
        refuse(connection, message ? Refusal::unexpected : Refusal::malformed);
        return true;
      }
      connection.said_hello = true;
      table.advance(connection.id, Progress::hello);
      {
        const std::lock_guard guard(lock);
        streams[connection.id] = {};
      }
      report({.kind = Arrival::Kind::opened, .stream = connection.id, .host = connection.host});
    }
    return report_bytes(Arrival::Kind::message, connection, bytes);
  }

  // Offers or leaves a channel. Only a client that the server has admitted may do so.
  bool on_text(Connection& connection, std::span<const std::byte> bytes) {
    if (connection.refused > kMaxRefused) return false;
    const auto message = read_signal({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    const bool is_known = message && (message->kind == Signal::offer || message->kind == Signal::leave);
    if (!connection.joined || !is_known) {
      refuse(connection, message ? Refusal::unexpected : Refusal::malformed);
      return true;
    }
    const auto kind = message->kind == Signal::offer ? Arrival::Kind::offer : Arrival::Kind::channel_left;
    return report_bytes(kind, connection, std::as_bytes(std::span(message->body)));
  }

  bool report_bytes(Arrival::Kind kind, Connection& connection, std::span<const std::byte> bytes) {
    {
      const std::lock_guard guard(lock);
      Stream& stream = streams[connection.id];
      if (stream.closing) return false;
      stream.unread_bytes += bytes.size() + sizeof(Arrival);
      // Only on_woken() ends a pause, because it must also let the socket be read again.
      connection.paused = connection.paused || stream.unread_bytes > kMaxUnread;
      stream.paused = connection.paused;
    }
    if (connection.paused) apply_flow(connection);
    report({.kind = kind,
            .stream = connection.id,
            .host = connection.host,
            .reached = connection.reached,
            .bytes = Bytes(bytes.begin(), bytes.end())});
    return true;
  }

  // While libwebsockets has bytes to write, it reads nothing. It must not be told that there is something to
  // read, either, or it would look again and again, on a whole processor.
  static void apply_flow(const Connection& connection) {
    lws_rx_flow_control(connection.socket, connection.blocked || connection.paused ? 0 : 1);
  }

  int on_writable(lws* socket) {
    const auto found = connections.find(socket);
    if (found == connections.end() || found->second.doomed) return -1;
    Connection& connection = found->second;
    if (lws_partial_buffered(socket) != 0) {
      lws_callback_on_writable(socket);
      return 0;
    }
    if (std::exchange(connection.blocked, false)) apply_flow(connection);
    if (connection.complete) return end(connection);
    if (!connection.answer.empty()) {
      const std::string bytes = std::exchange(connection.answer, {});
      const bool last = connection.phase == Connection::Phase::answer && connection.file == nullptr;
      return write(connection, std::as_bytes(std::span(bytes)), last);
    }
    return connection.phase == Connection::Phase::stream ? write_frame(connection) : write_part(connection);
  }

  // The next part of a file.
  int write_part(Connection& connection) {
    if (connection.file == nullptr) return 0;
    const auto rest = std::as_bytes(std::span(*connection.file)).subspan(connection.written);
    const std::size_t count = std::min(rest.size(), kPartBytes);
    connection.written += count;
    return write(connection, rest.first(count), count == rest.size());
  }

  // The next frame of a WebSocket.
  int write_frame(Connection& connection) {
    if (auto pong = std::exchange(connection.pong, std::nullopt)) return write(connection, *pong, false);
    Bytes next;
    bool closing = connection.closing;
    if (connection.said_hello && !connection.closed_by_client) {
      const std::lock_guard guard(lock);
      Stream& stream = streams[connection.id];
      closing = closing || stream.closing;
      if (!stream.waiting.empty()) {
        next = std::move(stream.waiting.front());
        stream.waiting.pop_front();
        stream.waiting_bytes -= next.size();
      }
    }
    if (!next.empty()) return write(connection, next, false);
    if (!closing) return 0;
    constexpr std::array<std::byte, 2> kNormalClosure{std::byte{0x03}, std::byte{0xe8}};  // 1000
    write_frame_header(kCloseFrame, kNormalClosure.size(), next);
    next.insert(next.end(), kNormalClosure.begin(), kNormalClosure.end());
    return write(connection, next, true);
  }

  // Writes bytes, and goes on as soon as the socket takes more. `last`: then the connection ends.
  int write(Connection& connection, std::span<const std::byte> bytes, bool last) {
    std::vector<unsigned char> room(LWS_PRE + bytes.size());
    std::ranges::transform(bytes, room.begin() + LWS_PRE,
                           [](std::byte each) { return std::to_integer<unsigned char>(each); });
    const int written =
        bytes.empty() ? 0 : lws_write(connection.socket, room.data() + LWS_PRE, bytes.size(), LWS_WRITE_RAW);
    if (written < static_cast<int>(bytes.size())) return -1;
    connection.complete = last;
    if (lws_partial_buffered(connection.socket) != 0) {
      connection.blocked = true;
      apply_flow(connection);
    }
    lws_callback_on_writable(connection.socket);
    return 0;
  }

  // The client has got everything. Over TLS, and after its own close frame, it expects no more.
  int end(Connection& connection) {
    if (connection.phase == Connection::Phase::ending) return 0;
    if (connection.said_hello) {
      const std::lock_guard guard(lock);
      streams[connection.id].closed = true;
    }
    if (connection.closed_by_client || !config.certificate.empty()) return -1;
    connection.phase = Connection::Phase::ending;
    table.advance(connection.id, Progress::over);
    table.end_by(connection.id, steady_seconds() + kLingerS);
    (void)shutdown(lws_get_socket_fd(connection.socket), SHUT_WR);
    return 0;
  }

  // The server's thread has queued messages, closed streams or read messages.
  void on_woken() {
    const std::lock_guard guard(lock);
    for (const StreamId id : touched) {
      const auto found = streams.find(id);
      const auto owner = by_id.find(id);
      if (found == streams.end() || owner == by_id.end()) continue;
      Stream& stream = found->second;
      Connection& connection = *owner->second;
      if (stream.closing && !connection.closing) {
        connection.closing = true;
        table.end_by(id, steady_seconds() + kCloseS);
      } else if (stream.joined && !connection.closing && !connection.joined) {
        connection.joined = true;
        connection.traffic = {};
        table.finish(id);
      }
      if (!stream.waiting.empty() || stream.closing) lws_callback_on_writable(connection.socket);
      if (stream.paused && stream.unread_bytes == 0) {
        stream.paused = connection.paused = false;
        apply_flow(connection);
      }
    }
    touched.clear();
  }

  void report(Arrival arrival) {
    arrival.at_s = steady_seconds();
    {
      const std::lock_guard guard(lock);
      arrivals.push_back(std::move(arrival));
    }
    arrived.notify_one();
  }

  void count(Refusal why) {
    const std::lock_guard guard(lock);
    ++refusals[why];
  }

  void run() {
    while (!stopping)
      (void)lws_service(context, 0);
  }

  // ---- On the server's thread. ----

  bool send(StreamId id, std::span<const std::byte> message, bool may_drop) {
    // A status text must not be lost or overtaken: the game may send it only once.
    const bool is_state = !message.empty() && message.front() == static_cast<std::byte>(pipe::Kind::state);
    if (may_drop && is_state && channels != nullptr && channels->send(id, message)) return true;
    return queue(id, message, may_drop, kBinaryFrame);
  }

  bool queue(StreamId id, std::span<const std::byte> message, bool may_drop, std::uint8_t frame) {
    const std::lock_guard guard(lock);
    const auto found = streams.find(id);
    if (found == streams.end() || found->second.closing) return false;
    Stream& stream = found->second;
    if (may_drop && stream.waiting_bytes + message.size() > kMaxWaitingStates) return false;
    if (frame == kBinaryFrame && !message.empty() &&
        message.front() == static_cast<std::byte>(pipe::Kind::welcome))
      stream.joined = true;
    Bytes& bytes = stream.waiting.emplace_back();
    write_frame_header(frame, message.size(), bytes);
    bytes.insert(bytes.end(), message.begin(), message.end());
    stream.waiting_bytes += bytes.size();
    touch(id);
    return true;
  }

  void answer_offer(const Arrival& offer, double now_s) {
    if (has_ended(offer.stream)) return;
    const std::string_view body(reinterpret_cast<const char*>(offer.bytes.data()), offer.bytes.size());
    const auto answer = channels->open_offer(offer.stream, offer.host, offer.reached, body, now_s);
    const std::string text =
        answer ? write_signal({Signal::answer, *answer}) : write_signal({Signal::refused, answer.error()});
    // A client that does not read must not fill the memory with answers.
    if (!queue(offer.stream, std::as_bytes(std::span(text)), true, kTextFrame)) channels->close(offer.stream);
  }

  [[nodiscard]] bool has_ended(StreamId id) {
    const std::lock_guard guard(lock);
    const auto found = streams.find(id);
    return found == streams.end() || found->second.closing;
  }

  // Lets the waiting messages leave first, for at most kCloseS.
  void close(StreamId id) {
    if (channels != nullptr) channels->close(id);
    const std::lock_guard guard(lock);
    const auto found = streams.find(id);
    if (found == streams.end()) return;
    found->second.closing = true;
    touch(id);
  }

  // The caller has locked it.
  void touch(StreamId id) {
    if (touched.empty()) lws_cancel_service(context);
    touched.insert(id);
  }

  [[nodiscard]] bool has_waiting() {
    const std::lock_guard guard(lock);
    return std::ranges::any_of(streams, [](const auto& each) {
      return !each.second.closed && (each.second.closing || !each.second.waiting.empty());
    });
  }

  void take_arrivals() {
    RefusalCounts refused;
    {
      const std::lock_guard guard(lock);
      std::swap(arrivals, taken);
      std::swap(refusals, refused);
      for (auto& [id, stream] : streams) {
        stream.unread_bytes = 0;
        if (stream.paused) touch(id);
      }
    }
    for (std::size_t i = 0; i < RefusalCounts::kReasons; ++i) {
      for (std::uint64_t n = 0; n < refused.counts[i]; ++n)
        pipes.refused(static_cast<Refusal>(i));
    }
    const double now_s = steady_seconds();
    for (const Arrival& arrival : taken) {
      switch (arrival.kind) {
        case Arrival::Kind::opened:
          if (!pipes.opened(arrival.stream, arrival.host, now_s)) close(arrival.stream);
          break;
        case Arrival::Kind::message:
          pipes.received(arrival.stream, arrival.bytes, now_s, now_s - arrival.at_s);
          break;
        case Arrival::Kind::offer:
          answer_offer(arrival, now_s);
          break;
        case Arrival::Kind::channel_left:
          channels->close(arrival.stream);
          pipes.set_path(arrival.stream, {});
          break;
        case Arrival::Kind::closed:
          if (channels != nullptr) channels->close(arrival.stream);
          pipes.closed(arrival.stream);
          break;
      }
    }
    taken.clear();
  }

  void wait(double seconds) {
    // A datagram wakes nobody here, so that the thread looks for them often while somebody is there.
    const double longest_s = channels != nullptr && pipes.streams() > 0 ? kChannelWaitS : 3600.0;
    const double most = std::isnan(seconds) ? 0.0 : std::clamp(seconds, 0.0, longest_s);
    std::unique_lock guard(lock);
    arrived.wait_for(guard, std::chrono::duration<double>(most), [this] { return !arrivals.empty(); });
  }

  static const char* protocol_name() { return "reckoner"; }

  struct Sweep {
    lws_sorted_usec_list_t timer;  // first: libwebsockets returns its address
    Impl* listener;
  };

  const WebConfig config;
  lws_context* context = nullptr;
  lws_vhost* vhost = nullptr;
  lws* listener = nullptr;
  std::uint16_t port = 0;
  std::atomic<bool> stopping = false;
  std::atomic<std::size_t> connection_count = 0;

  // Of the thread of the sockets.
  PageFiles files;
  ConnectionTable table;
  TrafficLimit traffic;
  TrafficLimit strangers{{.datagrams_per_second = kStrangerFrames,
                          .bytes_per_second = kStrangerBytes,
                          .address_datagrams_per_second = 0.0,
                          .address_bytes_per_second = 0.0}};
  std::unordered_map<lws*, Connection> connections;
  std::unordered_map<ConnectionId, Connection*> by_id;
  Sweep sweep{};
  bool is_paused = false;  // accepts no connections until the next sweep

  // Protected by the lock.
  std::mutex lock;
  std::condition_variable arrived;
  std::unordered_map<StreamId, Stream> streams;
  std::unordered_set<StreamId> touched;
  std::vector<Arrival> arrivals;
  RefusalCounts refusals;

  // Of the server's thread.
  std::vector<Arrival> taken;
  PipeServer pipes;
  TransportStats all_stats;
  const std::unique_ptr<SideChannels> channels;  // null: there are none; both threads know whether

  std::thread thread;
};

WebListener::WebListener(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
WebListener::~WebListener() = default;

// Makes listeners with channels, which games cannot.
struct web::ListenerAccess {
  using Impl = WebListener::Impl;
  static Result<std::unique_ptr<WebListener>> open(const WebConfig& config,
                                                   std::unique_ptr<SideChannels> channels,
                                                   bool opens_channels);
};

Result<std::unique_ptr<WebListener>> WebListener::open(const WebConfig& config) {
  return web::ListenerAccess::open(config, nullptr, config.data_channels);
}

Result<std::unique_ptr<WebListener>> web::open_listener(const WebConfig& config,
                                                        std::unique_ptr<SideChannels> channels) {
  return ListenerAccess::open(config, std::move(channels), false);
}

Result<std::unique_ptr<WebListener>> web::ListenerAccess::open(const WebConfig& config,
                                                               std::unique_ptr<SideChannels> channels,
                                                               bool opens_channels) {
  static const std::array<lws_protocols, 2> protocols{
      {{Impl::protocol_name(), &Impl::on_event, 0, 4096, 0, nullptr, 64 * 1024},
       {nullptr, nullptr, 0, 0, 0, nullptr, 0}}};
  if (auto error = find_invalid_setting(config)) return *error;
  const std::string where =
      "could not listen for browsers on " + config.host + ':' + std::to_string(config.port);
  const auto listening = listen_on(config.host, config.port);
  if (!listening) return Error{where + ": the address is in use or not of this machine"};
  // libwebsockets closes the socket once it has it.
  const auto fail = [&](const std::string& why) {
    ::close(listening->file);
    return Error{why};
  };
  const auto gate = token_gate(config, listening->port);
  if (!gate) return fail(gate.error());
  if (opens_channels) {
    auto opened = open_data_channels(config);
    if (!opened) return fail(opened.error());
    channels = std::move(*opened);
  }
  auto impl = std::make_unique<Impl>(config, gate->pipe_gate(&token_time), std::move(channels));

  lws_set_log_level(0, nullptr);
  lws_context_creation_info info{};
  info.port = CONTEXT_PORT_NO_LISTEN_SERVER;
  info.protocols = protocols.data();
  info.user = impl.get();
  info.gid = static_cast<decltype(info.gid)>(-1);
  info.uid = static_cast<decltype(info.uid)>(-1);
  // A closed connection stays until the next pass.
  info.fd_limit_per_thread = static_cast<unsigned>(config.max_connections + kMaxAcceptedAtOnce + 16);
  info.timeout_secs = static_cast<unsigned>(config.join_s) + 1;
  info.alpn = "http/1.1";
  const WebConfig& kept = impl->config;
  if (!kept.certificate.empty()) {
    info.options |= LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
    info.ssl_cert_filepath = kept.certificate.c_str();
    const std::string& key = kept.key.empty() ? kept.certificate : kept.key;
    info.ssl_private_key_filepath = key.c_str();
    // Checked here, because libwebsockets 4.1 leaks memory where it cannot use a certificate.
    if (!web::is_usable_certificate(kept.certificate, key))
      return fail(where + ": the certificate cannot be read");
  }
  impl->context = lws_create_context(&info);
  impl->vhost = impl->context != nullptr ? lws_get_vhost_by_name(impl->context, "default") : nullptr;
  if (impl->vhost == nullptr) {
    return fail(where + (config.certificate.empty() ? ": libwebsockets does not start"
                                                    : ": the certificate cannot be read"));
  }
  lws_sock_file_fd_type descriptor{};
  descriptor.filefd = listening->file;
  impl->listener = lws_adopt_descriptor_vhost(impl->vhost, LWS_ADOPT_RAW_FILE_DESC, descriptor,
                                              Impl::protocol_name(), nullptr);
  if (impl->listener == nullptr) return fail(where + ": libwebsockets does not start");
  impl->port = listening->port;
  impl->schedule_sweep();
  try {
    impl->thread = std::thread([self = impl.get()] { self->run(); });
  } catch (const std::system_error&) {
    return Error{where + ": the system has no thread left"};
  }
  return std::unique_ptr<WebListener>(new WebListener(std::move(impl)));
}

std::uint16_t WebListener::port() const {
  return impl_->port;
}

std::string WebListener::url(std::string_view host) const {
  const WebConfig& config = impl_->config;
  if (host.empty()) host = config.host.empty() ? std::string_view("localhost") : config.host;
  const bool bare_ipv6 = host.find(':') != std::string_view::npos && !host.starts_with('[');
  std::string out = config.certificate.empty() ? "ws://" : "wss://";
  out += bare_ipv6 ? "[" : "";
  out += host;
  out += bare_ipv6 ? "]:" : ":";
  return out + std::to_string(impl_->port) + '/';
}

std::optional<ClientIdentity> WebListener::identity(PeerId peer) const {
  return impl_->pipes.identity(peer);
}

WebStats WebListener::web_stats() const {
  WebStats stats{.peers = impl_->pipes.streams(), .connections = impl_->connection_count};
  if (impl_->channels != nullptr) impl_->channels->count(stats);
  return stats;
}

std::uint16_t WebListener::channel_port() const {
  return impl_->channels != nullptr ? impl_->channels->port() : std::uint16_t{0};
}

const TransportStats& WebListener::channel_stats() const {
  static const TransportStats kNone;
  return impl_->channels != nullptr ? impl_->channels->stats() : kNone;
}

void WebListener::send_status(std::string_view text) {
  impl_->pipes.send_status(text);
}

void WebListener::wait(double seconds) {
  impl_->wait(seconds);
}

void WebListener::service(double /*now_s*/) {
  impl_->take_arrivals();
  if (impl_->channels != nullptr) impl_->channels->pass_on(impl_->pipes, steady_seconds());
  impl_->pipes.service(steady_seconds());
}

std::optional<TransportEvent> WebListener::poll() {
  return impl_->pipes.poll();
}

bool WebListener::send(PeerId peer, std::span<const std::byte> datagram) {
  return impl_->pipes.send(peer, datagram);
}

std::size_t WebListener::max_datagram_bytes(PeerId peer) const {
  return impl_->pipes.max_datagram_bytes(peer);
}

bool WebListener::is_ordered(PeerId peer) const {
  return impl_->pipes.is_ordered(peer);
}

void WebListener::disconnect(PeerId peer, std::uint32_t reason) {
  impl_->pipes.disconnect(peer, reason);
}

PeerLogin WebListener::login(PeerId peer) const {
  return impl_->pipes.login(peer);
}

void WebListener::revoke_login(const PeerLogin& login) {
  impl_->pipes.revoke_login(login);
}

const TransportStats& WebListener::stats() const {
  if (impl_->channels == nullptr) return impl_->pipes.stats();
  // Messages in channels are in the counts of the pipes, and their packets are not. So only refusals are
  // added.
  impl_->all_stats = impl_->pipes.stats();
  const RefusalCounts& refused = impl_->channels->stats().refusals;
  for (std::size_t i = 0; i < RefusalCounts::kReasons; ++i) {
    impl_->all_stats.refusals.counts[i] += refused.counts[i];
    impl_->all_stats.refused += refused.counts[i];
  }
  return impl_->all_stats;
}

}  // namespace reckoner
