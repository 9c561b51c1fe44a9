// SPDX-License-Identifier: MIT
#include "harness/conditioner/conditioner.hpp"

#include "harness/conditioner/datagram_payload.hpp"
#include "net/src/transport/socket/system_address.hpp"
#include "net/src/transport/socket/udp_socket.hpp"
#include "programs/common/loop/clock.hpp"
#include "programs/common/system/sockets.hpp"
#include "scenario/builtin/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include <reckoner/net/network_transport.hpp>

namespace reckoner::harness {
namespace {

constexpr std::size_t kMaxDatagram = 65536;
constexpr std::size_t kMaxDelayed = 256 * 1024;  // limit of delayed datagrams; further ones are dropped
// Datagrams read from one socket in a step. The limit prevents a flood of one socket from starving the
// others.
constexpr int kReadsPerStep = 256;
constexpr int kSocketBuffer = 4 * 1024 * 1024;  // bytes requested; the system may grant less
constexpr double kExpiryCheck = 1.0;            // s between checks for silent clients
constexpr double kStopCheck = 0.05;             // s between calls of `stop`

using program::monotonic_s;

/// Owns a socket.
class Socket {
 public:
  Socket() = default;
  explicit Socket(sockets::Handle handle) : handle_(handle) {}
  ~Socket() {
    if (*this) sockets::close(handle_);
  }
  Socket(Socket&& other) noexcept : handle_(std::exchange(other.handle_, sockets::kNone)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }

  [[nodiscard]] sockets::Handle get() const { return handle_; }
  [[nodiscard]] explicit operator bool() const { return handle_ != sockets::kNone; }

 private:
  sockets::Handle handle_ = sockets::kNone;
};

Socket make_socket(int family) {
  Socket made(sockets::open_udp(family));
  if (made) {
    if (family == AF_INET6) sockets::set_option(made.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
    sockets::set_option(made.get(), SOL_SOCKET, SO_RCVBUF, kSocketBuffer);
    sockets::set_option(made.get(), SOL_SOCKET, SO_SNDBUF, kSocketBuffer);
  }
  return made;
}

int family_of(const SocketAddress& address) {
  return address.host.is_ipv4() ? AF_INET : AF_INET6;
}

/// An address of a client.
struct AddressHash {
  std::size_t operator()(const SocketAddress& address) const {
    return IpAddressHash{}(address.host) ^ address.port;
  }
};

/// One client address and its socket to the server.
struct Relay {
  /// Index of the client in the order of arrival; an address that returns gets a new index.
  std::uint64_t number;
  SocketAddress address;
  Socket server;
  Link up;
  Link down;
  double last_received_s;
};

/// A datagram that waits for its delay.
struct DelayedDatagram {
  double due_s;
  std::uint64_t order;  ///< order of arrival; decides between datagrams that are due at the same instant
  SocketAddress key;    ///< address of the client
  std::uint64_t client;
  bool up;
  std::vector<std::byte> payload;

  bool operator<(
      const DelayedDatagram& other) const {  // inverted: std::priority_queue has the largest on top
    return due_s != other.due_s ? due_s > other.due_s : order > other.order;
  }
};

}  // namespace

class Conditioner::Impl {
 public:
  Impl(ConditionerOptions options, Socket listening, int family, const SocketAddress& server)
      : options_(std::move(options)), listening_(std::move(listening)), family_(family), server_(server) {}

  void step(double timeout_s);
  void set_links(const LinkPair& links);
  [[nodiscard]] const LinkPair& links() const { return options_.links; }
  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] const ConditionerStats& stats() const { return stats_; }
  [[nodiscard]] std::span<const PacketRecord> packets() const { return packets_; }

 private:
  using Relays = std::unordered_map<SocketAddress, Relay, AddressHash>;

  void follow_script(double now_s);
  void drop_silent_clients(double now_s);
  void wait(double seconds);
  void receive_from_clients();
  void receive_from_server(const SocketAddress& key, Relay& relay);
  Relay* find_or_add(const SocketAddress& address, double now_s);
  void log(const LinkFate& fate, bool up, std::size_t bytes, std::size_t wire_bytes, double now_s);
  void accept(const SocketAddress& key, Relay& relay, bool up, std::size_t bytes, double now_s);
  void send_due();

  sockets::Library library_;
  ConditionerOptions options_;
  Socket listening_;
  int family_;  // of listening_; AF_INET6: it carries both
  SocketAddress server_;
  Relays relays_;
  std::priority_queue<DelayedDatagram> delayed_;
  ConditionerStats stats_;
  std::vector<PacketRecord> packets_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(kMaxDatagram);
  std::vector<sockets::PollEntry> polled_;
  std::vector<SocketAddress> polled_keys_;  ///< keys of the relays that are in polled_ from element 1 on
  std::uint64_t order_ = 0;
  std::optional<double> started_s_;
  double expiry_s_ = 0.0;
};

std::uint16_t Conditioner::Impl::port() const {
  SystemAddress address{};
  socklen_t size = sizeof address;
  getsockname(listening_.get(), &address.generic, &size);
  return from_system(address).port;
}

void Conditioner::Impl::follow_script(double now_s) {
  if (!started_s_) started_s_ = now_s;
  LinkPair links = options_.links;
  if (options_.script.advance(now_s - *started_s_, links)) set_links(links);
}

void Conditioner::Impl::set_links(const LinkPair& links) {
  options_.links = links;
  for (auto& [key, relay] : relays_) {
    relay.up.set_options(links.up);
    relay.down.set_options(links.down);
  }
}

void Conditioner::Impl::drop_silent_clients(double now_s) {
  if (now_s < expiry_s_) return;
  expiry_s_ = now_s + kExpiryCheck;
  std::erase_if(relays_,
                [&](const auto& entry) { return now_s - entry.second.last_received_s > options_.idle_s; });
}

void Conditioner::Impl::wait(double seconds) {
  polled_.assign(1, {listening_.get(), POLLIN, 0});
  polled_keys_.clear();
  for (const auto& [key, relay] : relays_) {
    polled_.push_back({relay.server.get(), POLLIN, 0});
    polled_keys_.push_back(key);
  }
  sockets::poll(polled_, seconds);  // a signal ends it, too; the caller checks whether to stop
}

Relay* Conditioner::Impl::find_or_add(const SocketAddress& address, double now_s) {
  if (const auto found = relays_.find(address); found != relays_.end()) return &found->second;
  if (relays_.size() >= options_.max_clients) return nullptr;
  Socket upstream = make_socket(family_of(server_));
  SystemAddress to{};
  const socklen_t size = to_system(server_, family_of(server_), to);
  if (!upstream || connect(upstream.get(), &to.generic, size) != 0) return nullptr;
  const std::uint64_t number = stats_.clients++;
  Relay relay{number,
              address,
              std::move(upstream),
              Link(options_.links.up, scenario::hash(options_.seed, number, 0)),
              Link(options_.links.down, scenario::hash(options_.seed, number, 1)),
              now_s};
  return &relays_.emplace(address, std::move(relay)).first->second;
}

void Conditioner::Impl::log(const LinkFate& fate, bool up, std::size_t bytes, std::size_t wire_bytes,
                            double now_s) {
  const std::size_t payload_bytes = datagram_payload_bytes(std::span(buffer_).first(bytes));
  PacketRecord record{now_s, std::nullopt, payload_bytes, wire_bytes, 0, !up, false, payload_bytes > 0};
  if (fate.lost()) packets_.push_back(record);
  for (std::size_t i = 0; i < fate.count; ++i) {
    record.arrived_s = fate.arrived_s[i];
    record.duplicate = i > 0;
    packets_.push_back(record);
  }
}

void Conditioner::Impl::accept(const SocketAddress& key, Relay& relay, bool up, std::size_t bytes,
                               double now_s) {
  relay.last_received_s = now_s;
  ConditionerCounters& counters = up ? stats_.up : stats_.down;
  ++counters.received;
  const std::size_t wire_bytes = wire_size(key.host, bytes);  // of the client's side
  const LinkFate fate = (up ? relay.up : relay.down).pass(now_s, wire_bytes);
  if (options_.log_packets) log(fate, up, bytes, wire_bytes, now_s);
  if (fate.lost() || delayed_.size() + fate.count > kMaxDelayed) {
    ++counters.lost;
    return;
  }
  if (fate.count == 2) ++counters.duplicated;
  for (std::size_t i = 0; i < fate.count; ++i) {
    delayed_.push({fate.arrived_s[i],
                   order_++,
                   key,
                   relay.number,
                   up,
                   {buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(bytes)}});
  }
}

void Conditioner::Impl::receive_from_clients() {
  for (int reads = 0; reads < kReadsPerStep; ++reads) {
    SystemAddress system{};
    socklen_t size = sizeof system;
    const int bytes = sockets::receive_from(listening_.get(), buffer_, &system.generic, &size);
    if (bytes < 0 && sockets::may_read_again(sockets::last_error())) continue;
    if (bytes < 0) return;
    const double now_s = monotonic_s();
    const SocketAddress from = from_system(system);
    if (Relay* relay = find_or_add(from, now_s)) {
      accept(from, *relay, true, static_cast<std::size_t>(bytes), now_s);
    }
  }
}

void Conditioner::Impl::receive_from_server(const SocketAddress& key, Relay& relay) {
  for (int reads = 0; reads < kReadsPerStep; ++reads) {
    const int bytes = sockets::receive_from(relay.server.get(), buffer_);
    // If no server listens on the port, or none yet, the system receives an ICMP message and one read returns
    // an error.
    if (bytes < 0 && sockets::may_read_again(sockets::last_error())) continue;
    if (bytes < 0) return;
    accept(key, relay, false, static_cast<std::size_t>(bytes), monotonic_s());
  }
}

void Conditioner::Impl::send_due() {
  const double now_s = monotonic_s();
  while (!delayed_.empty() && delayed_.top().due_s <= now_s) {
    const DelayedDatagram& datagram = delayed_.top();
    ConditionerCounters& counters = datagram.up ? stats_.up : stats_.down;
    const auto found = relays_.find(datagram.key);
    int sent = -1;
    if (found != relays_.end() && found->second.number == datagram.client) {
      const Relay& relay = found->second;
      SystemAddress to{};
      const socklen_t size = to_system(relay.address, family_, to);
      sent = datagram.up ? sockets::send_to(relay.server.get(), datagram.payload)
                         : sockets::send_to(listening_.get(), datagram.payload, &to.generic,
                                            static_cast<std::size_t>(size));
    }
    ++(sent >= 0 ? counters.forwarded : counters.send_errors);
    delayed_.pop();
  }
}

void Conditioner::Impl::step(double timeout_s) {
  const double now_s = monotonic_s();
  follow_script(now_s);
  drop_silent_clients(now_s);
  send_due();

  double wake_s = std::min(now_s + timeout_s, *started_s_ + options_.script.next_s());
  if (!delayed_.empty()) wake_s = std::min(wake_s, delayed_.top().due_s);
  wait(wake_s - monotonic_s());

  follow_script(monotonic_s());
  if (polled_.front().revents != 0) receive_from_clients();
  for (std::size_t i = 1; i < polled_.size(); ++i) {
    if (polled_[i].revents == 0) continue;
    const SocketAddress key = polled_keys_[i - 1];
    if (const auto found = relays_.find(key); found != relays_.end()) receive_from_server(key, found->second);
  }
  send_due();
}

Result<Conditioner> Conditioner::open(ConditionerOptions options) {
  for (const LinkOptions& link : {options.links.up, options.links.down}) {
    if (auto wrong = check(link)) return *wrong;
  }
  if (options.to_port == 0) return Error{"the server's UDP port is missing"};
  const sockets::Library library;
  // Without a host: a socket for IPv6 and IPv4, or for IPv4 on a machine without IPv6.
  std::vector<SocketAddress> listen{{IpAddress(), 0}, {IpAddress(0), 0}};
  if (!options.listen_host.empty()) listen = resolve_host(options.listen_host);
  if (listen.empty()) return Error{"unknown host '" + options.listen_host + "'"};
  auto servers = options.to_host.empty() ? std::vector<SocketAddress>() : resolve_host(options.to_host);
  if (servers.empty()) return Error{"unknown host '" + options.to_host + "'"};
  servers.front().port = options.to_port;

  Socket listening;
  int why = 0;
  for (SocketAddress& address : listen) {
    const int family = family_of(address);
    listening = make_socket(family);
    why = sockets::last_error();
    if (!listening) continue;
    address.port = options.listen_port;
    SystemAddress system{};
    const socklen_t size = to_system(address, family, system);
    if (bind(listening.get(), &system.generic, size) == 0)
      return Conditioner(
          std::make_unique<Impl>(std::move(options), std::move(listening), family, servers.front()));
    why = sockets::last_error();
    if (why == sockets::kInUse) break;
  }
  if (!listening) return Error{"cannot open a UDP socket: " + sockets::error_text(why)};
  const std::string port = "UDP port " + std::to_string(options.listen_port);
  if (why == sockets::kInUse) return Error{port + " is in use"};
  return Error{"cannot listen on " + port + ": " + sockets::error_text(why)};
}

void Conditioner::run(const std::function<bool()>& stop, double seconds) {
  const double end_s = monotonic_s() + seconds;
  for (double left_s = seconds; left_s > 0.0 && !stop(); left_s = end_s - monotonic_s()) {
    impl_->step(std::min(left_s, kStopCheck));
  }
}

Conditioner::Conditioner(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Conditioner::~Conditioner() = default;
Conditioner::Conditioner(Conditioner&&) noexcept = default;
Conditioner& Conditioner::operator=(Conditioner&&) noexcept = default;

std::uint16_t Conditioner::port() const {
  return impl_->port();
}
void Conditioner::step(double timeout_s) {
  impl_->step(timeout_s);
}
std::optional<Error> Conditioner::set_links(const LinkPair& links) {
  for (const LinkOptions& link : {links.up, links.down}) {
    if (auto wrong = check(link)) return wrong;
  }
  impl_->set_links(links);
  return std::nullopt;
}
const LinkPair& Conditioner::links() const {
  return impl_->links();
}
const ConditionerStats& Conditioner::stats() const {
  return impl_->stats();
}
std::span<const PacketRecord> Conditioner::packets() const {
  return impl_->packets();
}

}  // namespace reckoner::harness
