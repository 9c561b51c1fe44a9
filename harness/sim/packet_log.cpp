// SPDX-License-Identifier: MIT
#include "harness/sim/packet_log.hpp"

#include <algorithm>
#include <cstdio>

namespace reckoner::harness {

void share_out(std::span<PacketRecord> packets, std::size_t entities) {
  const auto carries = [](const PacketRecord& packet) { return packet.down && packet.state; };
  std::size_t bytes = 0;
  for (const PacketRecord& packet : packets) {
    if (carries(packet) && !packet.duplicate) bytes += packet.bytes;
  }
  for (std::size_t i = 0; i < packets.size(); ++i) {
    PacketRecord& packet = packets[i];
    if (!carries(packet) || bytes == 0) continue;
    if (packet.duplicate) {
      packet.entities = i > 0 ? packets[i - 1].entities : 0;
      continue;
    }
    packet.entities = (entities * packet.bytes + bytes / 2) / bytes;
    entities -= std::min(entities, packet.entities);
    bytes -= packet.bytes;
  }
}

std::optional<Error> write_packets(const std::string& path, std::span<const PacketRecord> packets) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (!file) return Error{"cannot write " + path};
  std::fputs("sent_s,arrived_s,bytes,wire_bytes,entities,direction\n", file);
  for (const PacketRecord& packet : packets) {
    std::fprintf(file, "%.6f,", packet.sent_s);
    if (packet.arrived_s) std::fprintf(file, "%.6f", *packet.arrived_s);
    std::fprintf(file, ",%zu,%zu,%zu,%s\n", packet.bytes, packet.wire_bytes, packet.entities,
                 packet.down ? "down" : "up");
  }
  const bool written = std::ferror(file) == 0;
  if (std::fclose(file) != 0 || !written) return Error{"could not write all of " + path};
  return std::nullopt;
}

}  // namespace reckoner::harness
