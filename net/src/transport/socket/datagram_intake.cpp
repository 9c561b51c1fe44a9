// SPDX-License-Identifier: MIT
#include "net/src/transport/socket/datagram_intake.hpp"

#include "net/src/transport/socket/system_address.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#ifdef __linux__
#include <ctime>
#endif

namespace reckoner {
namespace {

// How often in a row a read may fail before the socket counts as empty. An ICMP message about an earlier
// datagram makes one read fail.
constexpr int kMaxFailures = 64;

#ifdef __linux__
double waited_s(msghdr& message, const timespec& now) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec arrived{};
    std::memcpy(&arrived, CMSG_DATA(part), sizeof arrived);
    const double waited = static_cast<double>(now.tv_sec - arrived.tv_sec) +
                          1e-9 * static_cast<double>(now.tv_nsec - arrived.tv_nsec);
    // Somebody has set the clock if the time is negative or long.
    constexpr double kMaxWaitS = 1.0;
    return waited > 0.0 && waited < kMaxWaitS ? waited : 0.0;
  }
  return 0.0;
}
#endif

}  // namespace

void DatagramIntake::note_arrival_times([[maybe_unused]] UdpSocket& socket) {
#ifdef __linux__
  const int on = 1;
  (void)setsockopt(static_cast<int>(socket.descriptor()), SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
#endif
}

std::span<const DatagramIntake::Datagram> DatagramIntake::read(UdpSocket& socket) {
  const auto room = [this](std::size_t i) { return std::span(room_).subspan(i * kLongest, kLongest); };
#ifdef __linux__
  struct alignas(cmsghdr) Notes {
    std::array<char, CMSG_SPACE(sizeof(timespec))> bytes;
  };
  std::array<mmsghdr, kMost> messages;
  std::array<SystemAddress, kMost> addresses;
  std::array<iovec, kMost> parts;
  std::array<Notes, kMost> notes;
  for (std::size_t i = 0; i < capacity_; ++i) {
    parts[i] = {room(i).data(), kLongest};
    messages[i] = {};
    messages[i].msg_hdr.msg_name = &addresses[i];
    messages[i].msg_hdr.msg_namelen = sizeof addresses[i];
    messages[i].msg_hdr.msg_iov = &parts[i];
    messages[i].msg_hdr.msg_iovlen = 1;
    messages[i].msg_hdr.msg_control = notes[i].bytes.data();
    messages[i].msg_hdr.msg_controllen = sizeof notes[i].bytes;
  }
  int got = -1;
  for (int failures = 0; got < 0 && failures < kMaxFailures; ++failures) {
    got = recvmmsg(static_cast<int>(socket.descriptor()), messages.data(), static_cast<unsigned>(capacity_),
                   MSG_DONTWAIT, nullptr);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
  }
  const auto count = static_cast<std::size_t>(std::max(got, 0));
  timespec now{};
  if (count > 0 && messages[0].msg_hdr.msg_controllen > 0) clock_gettime(CLOCK_REALTIME, &now);
  for (std::size_t i = 0; i < count; ++i) {
    msghdr& message = messages[i].msg_hdr;
    datagrams_[i] = {from_system(addresses[i]), room(i).first(messages[i].msg_len),
                     (message.msg_flags & MSG_TRUNC) != 0, waited_s(message, now)};
  }
  return std::span(datagrams_).first(count);
#else
  std::size_t count = 0;
  for (int failures = 0; count < capacity_ && failures < kMaxFailures;) {
    SystemAddress from{};
    socklen_t size = sizeof from;
#ifdef _WIN32
    const auto got =
        recvfrom(static_cast<SOCKET>(socket.descriptor()), reinterpret_cast<char*>(room(count).data()),
                 static_cast<int>(kLongest), 0, &from.generic, &size);
    const int why = got < 0 ? WSAGetLastError() : 0;
    const bool cut = why == WSAEMSGSIZE;
    if (got < 0 && !cut && why == WSAEWOULDBLOCK) break;
#else
    const auto got = recvfrom(static_cast<int>(socket.descriptor()), room(count).data(), kLongest, 0,
                              &from.generic, &size);
    const bool cut = false;  // a longer datagram seems to have the longest size; later checks refuse it
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
#endif
    if (got < 0 && !cut) {
      ++failures;
      continue;
    }
    const std::size_t length = cut ? kLongest : static_cast<std::size_t>(got);
    datagrams_[count] = {from_system(from), room(count).first(length), cut, 0.0};
    ++count;
  }
  return std::span(datagrams_).first(count);
#endif
}

}  // namespace reckoner
