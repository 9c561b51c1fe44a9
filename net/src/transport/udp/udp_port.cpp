// SPDX-License-Identifier: MIT
#include "net/src/transport/udp/udp_port.hpp"

#include "net/src/transport/socket/socket_filter.hpp"

#include <utility>

namespace reckoner {
namespace {

constexpr int kBufferBytes = 4 * 1024 * 1024;  // requested; the system may grant less

// A reply to port 0, or to an address that no single host has, would fail at every attempt or reach others.
bool is_answerable(const SocketAddress& from) {
  return from.port != 0 && !from.host.is_any() && !from.host.is_multicast();
}

}  // namespace

UdpPort::UdpPort(UdpSocket&& socket, std::size_t reads) : socket_(std::move(socket)), intake_(reads) {
  (void)filter_socket(socket_.descriptor(), DatagramIntake::kLongest);
  socket_.set_buffers(kBufferBytes);
}

bool UdpPort::count(const DatagramIntake::Datagram& datagram) {
  ++stats.datagrams_received;
  stats.wire_bytes_received += wire_size(datagram.from.host, datagram.payload.size());
  if (is_answerable(datagram.from) && !datagram.payload.empty() && !datagram.cut) return true;
  stats.refuse(Refusal::malformed);
  return false;
}

// During a flood of requests, a system call for each challenge would be most of the cost.
void UdpPort::queue(const SocketAddress& to, std::span<const std::byte> datagram) {
  if (datagram.size() > DatagramBatch::kMaxDatagram) return;
  if (batch_.full()) flush();
  batch_.add(to, {}, datagram);
}

void UdpPort::flush() {
  if (batch_.empty()) return;
  const DatagramBatch::Outcome outcome = batch_.flush(socket_);
  stats.datagrams_sent += outcome.sent;
  stats.wire_bytes_sent += outcome.wire_bytes;
  stats.service_errors += outcome.errors;
}

void UdpPort::count_drops() {
  if (const auto dropped = dropped_for_socket(socket_.descriptor())) stats.system_drops = *dropped;
}

}  // namespace reckoner
