// SPDX-License-Identifier: MIT
#include "net/src/transport/enet/socket/datagram_batch.hpp"

#include <algorithm>
#include <cassert>

#ifdef __linux__
#include <cerrno>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#endif

namespace reckoner {

void DatagramBatch::add(Address to, std::span<const std::byte> head, std::span<const std::byte> payload) {
  assert(kAvailable && !full() && head.size() <= kMaxHead && payload.size() <= kMaxStateBytes);
  Datagram& datagram = datagrams_[size_++];
  datagram.to = to;
  datagram.bytes = head.size() + payload.size();
  std::copy(payload.begin(), payload.end(), std::copy(head.begin(), head.end(), datagram.data.begin()));
}

DatagramBatch::Outcome DatagramBatch::flush([[maybe_unused]] std::intptr_t socket) {
  Outcome outcome;
#ifdef __linux__
  std::array<mmsghdr, kMost> messages{};
  std::array<sockaddr_in, kMost> addresses{};
  std::array<iovec, kMost> parts{};
  for (std::size_t i = 0; i < size_; ++i) {
    Datagram& datagram = datagrams_[i];
    addresses[i].sin_family = AF_INET;
    addresses[i].sin_port = htons(datagram.to.port);
    addresses[i].sin_addr.s_addr = datagram.to.host;
    parts[i] = {datagram.data.data(), datagram.bytes};
    messages[i].msg_hdr.msg_name = &addresses[i];
    messages[i].msg_hdr.msg_namelen = sizeof addresses[i];
    messages[i].msg_hdr.msg_iov = &parts[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  for (std::size_t next = 0; next < size_;) {
    const int sent = sendmmsg(static_cast<int>(socket), &messages[next], static_cast<unsigned>(size_ - next),
                              MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      outcome.sent += static_cast<std::uint32_t>(sent);
      for (const std::size_t end = next + static_cast<std::size_t>(sent); next < end; ++next)
        outcome.bytes += static_cast<std::uint32_t>(datagrams_[next].bytes);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      break;
    } else if (errno != EINTR) {
      // The error belongs to the first datagram that remains. Skip it and send the others.
      ++outcome.errors;
      ++next;
    }
  }
#endif
  size_ = 0;
  return outcome;
}

}  // namespace reckoner
