// SPDX-License-Identifier: MIT
// Sends a flood of datagrams to a server for load runs. They come from thousands of addresses of this
// machine.
#include "harness/report/report_error.hpp"
#include "harness/stress/load/recording/resource_use.hpp"
#include "harness/stress/load/roles/load_roles.hpp"
#include "harness/stress/load/roles/parent_lines.hpp"
#include "net/src/transport/socket/system_address.hpp"
#include "programs/common/loop/clock.hpp"
#include "programs/common/loop/stop_signal.hpp"
#include "programs/common/options/options.hpp"
#include "programs/common/security.hpp"
#include "programs/common/system/sockets.hpp"
#include "scenario/builtin/random.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace reckoner::harness {
namespace {

// Limits of the options, so that the flood is not usable against servers of other people.
constexpr double kMaxPerSecond = 50'000.0;
constexpr double kMaxSeconds = 120.0;

constexpr std::size_t kSockets = 256;
constexpr std::size_t kSendsPerAddress = 8;  // then the socket gets a new address
constexpr std::size_t kLargestDatagram = 1232;
constexpr std::size_t kTooLong = 5000;  // longer than any datagram that ENet reads

// All addresses in 127.0.0.0/8 belong to this machine (Linux). Those in fd00:5eed::/32 do after
// `ip -6 route add local fd00:5eed::/32 dev lo`.
constexpr std::uint32_t kLoopback = 0x7F000000;
constexpr std::uint64_t kStrangers6 = 0xFD00'5EED'0000'0000;
constexpr IpAddress kLoopback6{0, 1};

// Sizes of the genuine datagrams on the wire (docs/SECURITY.md, docs/WIRE.md, ENet 1.3).
constexpr std::size_t kEnetConnectBytes = 52;
constexpr std::size_t kRequestBytes = 128;
constexpr std::size_t kResponseBytes = 848;
constexpr std::size_t kOpenResponseBytes = 64;

class Flood {
 public:
  Flood(const SocketAddress& server, double per_second, double seconds)
      : server_(server),
        per_second_(std::clamp(per_second, 0.0, kMaxPerSecond)),
        seconds_(std::clamp(seconds, 0.0, kMaxSeconds)),
        sockets_(kSockets) {}
  ~Flood() {
    for (const Socket& each : sockets_) {
      if (each.handle != sockets::kNone) sockets::close(each.handle);
    }
  }
  Flood(const Flood&) = delete;
  Flood& operator=(const Flood&) = delete;

  int run() {
    const double start_s = program::monotonic_s();
    double now_s = start_s;
    while (now_s < start_s + seconds_ && !program::stop_requested() && !parent_lines_.closed()) {
      const auto due = static_cast<std::uint64_t>((now_s - start_s) * per_second_);
      while (sent_ < due)
        send_one();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      now_s = program::monotonic_s();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    receive_answers();
    const nlohmann::json json = {{"datagrams", sent_},         {"bytes", bytes_},
                                 {"addresses", addresses_},    {"failed", failed_},
                                 {"answers", answers_},        {"answered_bytes", answered_bytes_},
                                 {"longest_answer", longest_}, {"seconds", now_s - start_s}};
    fmt::print("result {}\n", json.dump());
    std::fflush(stdout);
    return program::kOk;
  }

 private:
  struct Socket {
    sockets::Handle handle = sockets::kNone;
    std::size_t sent = 0;
  };

  [[nodiscard]] std::uint64_t random() { return scenario::hash(0xF100Du, ++draws_); }

  bool open(Socket& one) {
    if (one.handle != sockets::kNone) sockets::close(one.handle);
    const bool ipv4 = server_.host.is_ipv4();
    one = {sockets::open_udp(ipv4 ? AF_INET : AF_INET6), 0};
    // Avoid the addresses that honest clients use, the network's own address and the broadcast address. Over
    // IPv6, every address is in another /64.
    const IpAddress own =
        ipv4 ? IpAddress(kLoopback + 0x10000 + static_cast<std::uint32_t>(random() % 0xFE0000))
             : IpAddress(kStrangers6 | (random() & 0xFFFF'FFFF), 1);
#ifdef IPV6_FREEBIND
    // A route to a whole network makes its addresses local, but only IPv4 sockets may use them without this
    // option.
    if (!ipv4 && one.handle != sockets::kNone)
      sockets::set_option(one.handle, IPPROTO_IPV6, IPV6_FREEBIND, 1);
#endif
    SystemAddress from{};
    const socklen_t size = to_system({own, 0}, ipv4 ? AF_INET : AF_INET6, from);
    if (one.handle != sockets::kNone && bind(one.handle, &from.generic, size) == 0) {
      ++addresses_;
      return true;
    }
    if (one.handle != sockets::kNone) sockets::close(one.handle);
    one.handle = sockets::kNone;
    return false;
  }

  void send_one() {
    Socket& from = sockets_[sent_ % sockets_.size()];
    receive_answers_from(from);
    const auto datagram = next_datagram();
    ++sent_;
    const bool fresh = from.handle == sockets::kNone || from.sent >= kSendsPerAddress;
    if (fresh && !open(from)) return (void)++failed_;
    ++from.sent;
    SystemAddress to{};
    const socklen_t size = to_system(server_, server_.host.is_ipv4() ? AF_INET : AF_INET6, to);
    const int sent = sockets::send_to(from.handle, datagram, &to.generic, static_cast<std::size_t>(size));
    if (sent < 0) return (void)++failed_;
    bytes_ += static_cast<std::uint64_t>(sent);
  }

  // Three kinds in turn: an ENet connection request, the first message of a handshake, and noise. Noise has
  // the first byte of a handshake's second message, with or without security (with a wrong cookie), or of a
  // datagram of a session. Some of the noise is empty or longer than any transport sends.
  std::span<const std::byte> next_datagram() {
    const std::uint64_t turn = sent_ % 3;
    const std::uint64_t other = random();
    std::size_t size = turn == 0 ? kEnetConnectBytes : turn == 1 ? kRequestBytes : kResponseBytes;
    if (turn == 2 && other % 4 != 0) size = 1 + other / 64 % kLargestDatagram;
    if (turn == 2 && other % 4 == 1) size = kOpenResponseBytes;
    if (turn == 2 && other / 4 % 8 == 0) return {};
    if (turn == 2 && other / 4 % 16 == 1) size = kTooLong;
    for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
      const std::uint64_t bits = random();
      std::memcpy(&buffer_[at], &bits, sizeof bits);
    }
    const std::uint64_t game = program::kGameNumber;
    if (turn == 0) {
      constexpr std::array<unsigned char, 6> kForgedHead{0x8F, 0xFF, 0, 0, 0x82, 0xFF};
      constexpr std::array<unsigned char, 4> kChannels{0, 0, 0, 2};
      std::memcpy(buffer_.data(), kForgedHead.data(), kForgedHead.size());
      std::memcpy(&buffer_[20], kChannels.data(), kChannels.size());
    } else if (turn == 1) {
      buffer_[0] = std::byte{0xA1};
      std::memcpy(&buffer_[1], &game, sizeof game);
    } else {
      constexpr std::array<unsigned char, 4> kKinds{0xA3, 0xB1, 0xA6, 0xAB};
      buffer_[0] = std::byte{kKinds[other % 4]};
      if (other % 4 == 0) std::memcpy(&buffer_[1], &game, sizeof game);
    }
    return std::span(buffer_).first(size);
  }

  void receive_answers() {
    for (Socket& each : sockets_)
      receive_answers_from(each);
  }
  void receive_answers_from(const Socket& one) {
    std::array<std::byte, 2048> answer;
    while (one.handle != sockets::kNone) {
      const int size = sockets::receive_from(one.handle, answer);
      if (size < 0) return;
      ++answers_;
      answered_bytes_ += static_cast<std::uint64_t>(size);
      longest_ = std::max(longest_, static_cast<std::uint64_t>(size));
    }
  }

  sockets::Library library_;
  SocketAddress server_;
  double per_second_;
  double seconds_;
  std::vector<Socket> sockets_;
  ParentLines parent_lines_;
  std::array<std::byte, kTooLong + 8> buffer_{};
  std::uint64_t draws_ = 0, sent_ = 0, bytes_ = 0, addresses_ = 0, failed_ = 0;
  std::uint64_t answers_ = 0, answered_bytes_ = 0, longest_ = 0;
};

}  // namespace

int run_load_flood(const LoadFloodOptions& options) {
  program::catch_stop_signals();
  lower_priority();
  if (const std::string wrong = raise_open_file_limit(kSockets); !wrong.empty())
    return report_error(wrong, program::kFailed);
  const auto server = program::resolve(options.server);
  if (!server) return report_error(server.error());
  const SocketAddress& at = server->front();
  const bool here = at.host.is_ipv4() ? (at.host.ipv4() & 0xFF000000) == kLoopback : at.host == kLoopback6;
  if (!here) return report_error("the server must be on this machine");
  return Flood(at, options.per_second, options.seconds).run();
}

}  // namespace reckoner::harness
