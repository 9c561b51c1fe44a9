// SPDX-License-Identifier: MIT
#include "net/src/transport/socket/datagram_batch.hpp"

#include "net/src/transport/socket/system_address.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>

namespace reckoner {

void DatagramBatch::add(const SocketAddress& to, std::span<const std::byte> head,
                        std::span<const std::byte> payload) {
  assert(!full() && head.size() + payload.size() <= kMaxDatagram);
  Datagram& datagram = datagrams_[size_++];
  datagram.to = to;
  datagram.bytes = head.size() + payload.size();
  std::copy(payload.begin(), payload.end(), std::copy(head.begin(), head.end(), datagram.data.begin()));
}

DatagramBatch::Outcome DatagramBatch::flush(UdpSocket& socket) {
  Outcome outcome;
  const auto count_sent = [&](const Datagram& datagram) {
    ++outcome.sent;
    outcome.wire_bytes += wire_size(datagram.to.host, datagram.bytes);
  };
#ifdef __linux__
  std::array<mmsghdr, kMost> messages{};
  std::array<SystemAddress, kMost> addresses;
  std::array<iovec, kMost> parts{};
  for (std::size_t i = 0; i < size_; ++i) {
    Datagram& datagram = datagrams_[i];
    parts[i] = {datagram.data.data(), datagram.bytes};
    messages[i].msg_hdr.msg_name = &addresses[i];
    messages[i].msg_hdr.msg_namelen = to_system(datagram.to, socket.system_family(), addresses[i]);
    messages[i].msg_hdr.msg_iov = &parts[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  for (std::size_t next = 0; next < size_;) {
    const int sent = sendmmsg(static_cast<int>(socket.descriptor()), &messages[next],
                              static_cast<unsigned>(size_ - next), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      for (const std::size_t end = next + static_cast<std::size_t>(sent); next < end; ++next)
        count_sent(datagrams_[next]);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      break;
    } else if (errno != EINTR) {
      // The error belongs to the first datagram that remains. Skip it and send the others.
      ++outcome.errors;
      ++next;
    }
  }
#else
  for (std::size_t i = 0; i < size_; ++i) {
    const Datagram& datagram = datagrams_[i];
    if (socket.send(datagram.to, std::span(datagram.data).first(datagram.bytes))) {
      count_sent(datagram);
    } else {
      ++outcome.errors;
    }
  }
#endif
  size_ = 0;
  return outcome;
}

}  // namespace reckoner
