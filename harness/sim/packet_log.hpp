// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// One datagram on a link; a duplicate is a second record.
struct PacketRecord {
  double sent_s = 0.0;
  std::optional<double> arrived_s;  ///< nothing: it was lost
  std::size_t bytes = 0;            ///< of payload; 0 for the transport's own datagrams
  std::size_t wire_bytes = 0;
  std::size_t entities = 0;  ///< motions that it carries
  bool down = true;          ///< server to client
  bool duplicate = false;    ///< the link made it
  bool state = false;        ///< carries a payload of the state channel
};

/// Notes in those records that are state datagrams to clients that they carry `entities` motions between
/// them, shared out by size: a network cannot read what it carries. Duplicates stand right behind their
/// originals.
void share_out(std::span<PacketRecord> packets, std::size_t entities);

/// Writes a --packets file (EVALUATION.md). The error names the file.
[[nodiscard]] std::optional<Error> write_packets(const std::string& path,
                                                 std::span<const PacketRecord> packets);

}  // namespace reckoner::harness
