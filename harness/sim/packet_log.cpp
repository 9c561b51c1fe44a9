// SPDX-License-Identifier: MIT
#include "harness/sim/packet_log.hpp"

#include "scenario/trace/output_file.hpp"

#include <algorithm>
#include <cstdio>

namespace reckoner::harness {

void distribute_entities(std::span<PacketRecord> packets, std::size_t entities) {
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
  auto file = scenario::OutputFile::create(path);
  if (!file) return Error{"cannot write " + path + ": " + file.error()};
  file->write("sent_s,arrived_s,bytes,wire_bytes,entities,direction\n");
  for (const PacketRecord& packet : packets) {
    char line[400];  // the largest double has 309 digits before the point
    const auto write = [&](int length) {
      file->write({line, static_cast<std::size_t>(std::max(0, length))});
    };
    write(std::snprintf(line, sizeof line, "%.6f,", packet.sent_s));
    if (packet.arrived_s) write(std::snprintf(line, sizeof line, "%.6f", *packet.arrived_s));
    write(std::snprintf(line, sizeof line, ",%zu,%zu,%zu,%s\n", packet.bytes, packet.wire_bytes,
                        packet.entities, packet.down ? "down" : "up"));
  }
  if (!file->close()) return Error{"could not write all of " + path + ": " + file->why()};
  return std::nullopt;
}

}  // namespace reckoner::harness
