// SPDX-License-Identifier: MIT
#include "web/src/sctp/sctp_association.hpp"

#include "web/src/ice/big_endian.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <usrsctp.h>

namespace reckoner::web {
namespace {

constexpr std::uint32_t kLifetimeMs = 30;  // of a message that is sent once
constexpr std::uint32_t kLeastRepeatMs = 200;
constexpr std::uint32_t kFirstRepeatMs = 400;
// After an outage, an association continues within this time.
constexpr std::uint32_t kLongestRepeatMs = 1000;
// The owner ends a silent association long before this many repetitions.
constexpr std::uint16_t kMostRepeats = 30;
constexpr std::uint32_t kAckDelayMs = 40;
constexpr int kBufferBytes = 64 * 1024;
constexpr std::uint32_t kMostElapsedMs = 60'000;

/// What an association sends: the packets that its owner has not taken yet, and a count.
struct Outgoing {
  SctpAssociation::Packets packets;
  std::uint64_t messages = 0;  // that were sent, or skipped for a later one; repetitions do not count
  std::optional<std::uint32_t> newest;  // the number of the newest message in any packet (TSN)

  void add(std::span<const std::byte> packet) {
    packets.bytes.insert(packets.bytes.end(), packet.begin(), packet.end());
    packets.sizes.push_back(packet.size());
    constexpr std::size_t kHeaderBytes = 12;
    auto rest = packet.subspan(std::min(kHeaderBytes, packet.size()));
    while (rest.size() >= 8) {
      const std::size_t bytes = from_big_endian(rest.subspan(2, 2));
      if (rest[0] == std::byte{SCTP_DATA})
        note(static_cast<std::uint32_t>(from_big_endian(rest.subspan(4, 4))));
      rest = rest.subspan(std::min(std::max<std::size_t>((bytes + 3) / 4 * 4, 4), rest.size()));
    }
  }

 private:
  // Each message is one chunk.
  void note(std::uint32_t tsn) {
    const std::uint32_t ahead = newest ? tsn - *newest : 1;
    if (ahead == 0 || ahead >= 0x8000'0000u) return;
    messages += ahead;
    newest = tsn;
  }
};

/// What usrsctp has only once in a process.
struct Process {
  std::mutex calls;  // held during each call of the library
  std::size_t users = 0;
  bool runs = false;
  double passed_s = 0.0;

  // Of its own, because the library's thread may send while another thread waits for the library.
  std::mutex packets;
  std::uintptr_t last = 0;
  std::unordered_map<std::uintptr_t, Outgoing*> outgoing;
};

Process& process() {
  static Process* const only =
      new Process;  // never destroyed, because the library's thread may outlive main()
  return *only;
}

// Addresses are numbers and not pointers: the library may send after the end of an association.
void* address_of(std::uintptr_t number) {
  return reinterpret_cast<void*>(number);
}

int keep_packet(void* address, void* bytes, size_t size, uint8_t, uint8_t) {
  Process& all = process();
  const std::lock_guard lock(all.packets);
  const auto found = all.outgoing.find(reinterpret_cast<std::uintptr_t>(address));
  if (found != all.outgoing.end()) found->second->add({static_cast<const std::byte*>(bytes), size});
  return 0;
}

void start_library() {
  usrsctp_init_nothreads(0, &keep_packet, nullptr);
  // What data channels do not use, and strangers should not reach.
  usrsctp_sysctl_set_sctp_blackhole(2);
  usrsctp_sysctl_set_sctp_ecn_enable(0);
  usrsctp_sysctl_set_sctp_auto_asconf(0);
  usrsctp_sysctl_set_sctp_asconf_enable(0);
  usrsctp_sysctl_set_sctp_auth_enable(0);
  usrsctp_sysctl_set_sctp_reconfig_enable(0);
  usrsctp_sysctl_set_sctp_nrsack_enable(0);
  usrsctp_sysctl_set_sctp_pktdrop_enable(0);
  usrsctp_sysctl_set_sctp_pr_enable(1);
}

template <class Value>
bool set(struct socket* socket, int level, int option, const Value& value) {
  return usrsctp_setsockopt(socket, level, option, &value, sizeof value) == 0;
}

bool set_up(struct socket* socket) {
  sctp_initmsg streams{};
  streams.sinit_num_ostreams = streams.sinit_max_instreams = kSctpStreams;
  sctp_rtoinfo repeats{};
  repeats.srto_initial = kFirstRepeatMs;
  repeats.srto_min = kLeastRepeatMs;
  repeats.srto_max = kLongestRepeatMs;
  sctp_assocparams association{};
  association.sasoc_asocmaxrxt = kMostRepeats;
  sctp_paddrparams path{};
  path.spp_address.ss_family = AF_CONN;
  path.spp_flags = SPP_HB_DISABLE | SPP_PMTUD_DISABLE;
  path.spp_pathmtu = kSctpPacketBytes;
  path.spp_pathmaxrxt = kMostRepeats;
  sctp_sack_info acks{};
  acks.sack_delay = kAckDelayMs;
  acks.sack_freq = 2;
  sctp_event event{};
  event.se_assoc_id = SCTP_ALL_ASSOC;
  event.se_on = 1;
  event.se_type = SCTP_ASSOC_CHANGE;
  struct linger linger {};
  linger.l_onoff = 1;  // close() ends the association at once
  constexpr int kOn = 1;
  return usrsctp_set_non_blocking(socket, 1) == 0 && set(socket, SOL_SOCKET, SO_LINGER, linger) &&
         set(socket, SOL_SOCKET, SO_SNDBUF, kBufferBytes) &&
         set(socket, SOL_SOCKET, SO_RCVBUF, kBufferBytes) && set(socket, IPPROTO_SCTP, SCTP_NODELAY, kOn) &&
         set(socket, IPPROTO_SCTP, SCTP_DISABLE_FRAGMENTS, kOn) &&
         set(socket, IPPROTO_SCTP, SCTP_RECVRCVINFO, kOn) &&
         set(socket, IPPROTO_SCTP, SCTP_INITMSG, streams) &&
         set(socket, IPPROTO_SCTP, SCTP_RTOINFO, repeats) &&
         set(socket, IPPROTO_SCTP, SCTP_ASSOCINFO, association) &&
         set(socket, IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, path) &&
         set(socket, IPPROTO_SCTP, SCTP_DELAYED_SACK, acks) && set(socket, IPPROTO_SCTP, SCTP_EVENT, event);
}

std::uint32_t network_order(std::uint32_t value) {
  return htonl(value);
}

}  // namespace

SctpStack::SctpStack() {
  Process& all = process();
  const std::lock_guard lock(all.calls);
  if (all.users++ == 0 && !all.runs) {
    start_library();
    all.runs = true;
  }
}

SctpStack::~SctpStack() {
  Process& all = process();
  const std::lock_guard lock(all.calls);
  // The library does not stop while a timer still holds an association. Then it goes on for the next user.
  if (--all.users == 0) all.runs = usrsctp_finish() != 0;
}

void SctpStack::advance(double now_s) {
  Process& all = process();
  const std::lock_guard lock(all.calls);
  if (!offset_s_) offset_s_ = all.passed_s - now_s;
  const double elapsed_ms = (now_s + *offset_s_ - all.passed_s) * 1000.0;
  if (!(elapsed_ms >= 1.0)) return;
  const auto ms = static_cast<std::uint32_t>(std::min<double>(elapsed_ms, kMostElapsedMs));
  usrsctp_handle_timers(ms);
  all.passed_s += elapsed_ms > kMostElapsedMs ? elapsed_ms / 1000.0 : ms / 1000.0;
}

struct SctpAssociation::Socket {
  Socket() {
    Process& all = process();
    {
      const std::lock_guard lock(all.packets);
      number = ++all.last;
      all.outgoing[number] = &outgoing;
    }
    usrsctp_register_address(address_of(number));
  }
  ~Socket() {
    close();
    usrsctp_deregister_address(address_of(number));
    const std::lock_guard lock(process().packets);
    process().outgoing.erase(number);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  void close() {
    if (struct socket* const open = std::exchange(handle, nullptr)) usrsctp_close(open);
  }

  std::uintptr_t number = 0;
  struct socket* handle = nullptr;
  Outgoing outgoing;
};

std::unique_ptr<SctpAssociation> SctpAssociation::create(SctpStack&, Role role, std::uint16_t port) {
  std::unique_ptr<SctpAssociation> made(new SctpAssociation);
  const std::lock_guard lock(process().calls);
  made->socket_ = std::make_unique<Socket>();
  Socket& own = *made->socket_;
  own.handle = usrsctp_socket(AF_CONN, SOCK_SEQPACKET, IPPROTO_SCTP, nullptr, nullptr, 0, nullptr);
  sockaddr_conn both{};
  both.sconn_family = AF_CONN;
  both.sconn_port = htons(port);
  both.sconn_addr = address_of(own.number);
  auto* const address = reinterpret_cast<sockaddr*>(&both);
  bool works =
      own.handle != nullptr && set_up(own.handle) && usrsctp_bind(own.handle, address, sizeof both) == 0;
  if (works && role == Role::waits) works = usrsctp_listen(own.handle, 1) == 0;
  if (works && role == Role::begins)
    works = usrsctp_connect(own.handle, address, sizeof both) == 0 || errno == EINPROGRESS;
  if (works) return made;
  made->socket_.reset();  // under the lock
  return nullptr;
}

SctpAssociation::~SctpAssociation() {
  const std::lock_guard lock(process().calls);
  socket_.reset();
}

void SctpAssociation::receive(std::span<const std::byte> packet) {
  if (has_ended_) return;
  const std::lock_guard lock(process().calls);
  usrsctp_conninput(address_of(socket_->number), packet.data(), packet.size(), 0);
}

std::optional<SctpAssociation::Message> SctpAssociation::poll() {
  constexpr std::size_t kRoom = 2048;
  if (buffer_.empty()) buffer_.resize(kRoom);
  const std::lock_guard lock(process().calls);
  bool is_rest = false;
  while (!has_ended_) {
    sctp_rcvinfo info{};
    socklen_t info_bytes = sizeof info, from_bytes = 0;
    unsigned type = SCTP_RECVV_NOINFO;
    int flags = 0;
    const auto bytes = usrsctp_recvv(socket_->handle, buffer_.data(), buffer_.size(), nullptr, &from_bytes,
                                     &info, &info_bytes, &type, &flags);
    if (bytes <= 0) break;
    const auto got = std::span<const std::byte>(buffer_).first(static_cast<std::size_t>(bytes));
    const bool is_whole = (flags & MSG_EOR) != 0 && !is_rest;
    is_rest = (flags & MSG_EOR) == 0;
    if (!is_whole) continue;
    if ((flags & MSG_NOTIFICATION) != 0) {
      note(got);
    } else if (type == SCTP_RECVV_RCVINFO) {
      return Message{info.rcv_sid, network_order(info.rcv_ppid), got};
    }
  }
  return std::nullopt;
}

void SctpAssociation::note(std::span<const std::byte> notification) {
  sctp_assoc_change change{};
  constexpr std::size_t kBytes = offsetof(sctp_assoc_change, sac_assoc_id) + sizeof change.sac_assoc_id;
  if (notification.size() < kBytes) return;
  std::memcpy(static_cast<void*>(&change), notification.data(), kBytes);
  if (change.sac_type != SCTP_ASSOC_CHANGE) return;
  if (change.sac_state == SCTP_COMM_UP && id_ == 0) {
    id_ = change.sac_assoc_id;
  } else {
    has_ended_ = true;  // also for a second association and a restart, which the filter refuses before
  }
}

bool SctpAssociation::send(std::uint16_t stream, std::uint32_t protocol, std::span<const std::byte> payload,
                           SctpDelivery delivery) {
  if (!is_open() || payload.empty()) return false;
  sctp_sendv_spa how{};
  how.sendv_flags = SCTP_SEND_SNDINFO_VALID;
  how.sendv_sndinfo.snd_sid = stream;
  how.sendv_sndinfo.snd_ppid = network_order(protocol);
  how.sendv_sndinfo.snd_assoc_id = id_;
  if (delivery == SctpDelivery::newest) {
    how.sendv_sndinfo.snd_flags = SCTP_UNORDERED;
    how.sendv_flags |= SCTP_SEND_PRINFO_VALID;
    how.sendv_prinfo.pr_policy = SCTP_PR_SCTP_TTL;
    how.sendv_prinfo.pr_value = kLifetimeMs;
  }
  const std::lock_guard lock(process().calls);
  if (usrsctp_sendv(socket_->handle, payload.data(), payload.size(), nullptr, 0, &how, sizeof how,
                    SCTP_SENDV_SPA, 0) <= 0)
    return false;
  ++accepted_;
  return true;
}

// sctp_status::sstat_penddata is 0 even if messages wait, so this counts what has left.
bool SctpAssociation::has_waiting() {
  if (!is_open() || accepted_ == sent()) return false;
  // The library drops a message that has waited for too long, and does not send it. If no message is on its
  // way, it would send one that waits, so none does.
  sctp_status status{};
  status.sstat_assoc_id = id_;
  socklen_t bytes = sizeof status;
  const std::lock_guard lock(process().calls);
  if (usrsctp_getsockopt(socket_->handle, IPPROTO_SCTP, SCTP_STATUS, &status, &bytes) != 0) return false;
  if (status.sstat_unackdata > 0) return true;
  accepted_ = sent();
  return false;
}

std::uint64_t SctpAssociation::sent() const {
  const std::lock_guard lock(process().packets);
  return socket_->outgoing.messages;
}

void SctpAssociation::close() {
  has_ended_ = true;
  const std::lock_guard lock(process().calls);
  socket_->close();
}

void SctpAssociation::take_packets() {
  const std::lock_guard lock(process().packets);
  std::swap(packets_, socket_->outgoing.packets);
}

}  // namespace reckoner::web
