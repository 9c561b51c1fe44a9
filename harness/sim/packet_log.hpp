// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// A log record of one datagram on a link. A duplicate has its own record.
struct PacketRecord {
  double sent_s = 0.0;
  std::optional<double> arrived_s;  ///< nullopt if the datagram was lost
  std::size_t bytes = 0;            ///< of payload; 0 for the transport's own datagrams
  std::size_t wire_bytes = 0;
  std::size_t entities = 0;  ///< estimated number of motions in the datagram
  bool down = true;          ///< server to client
  bool duplicate = false;    ///< true for the second copy made by the link
  bool state = false;        ///< carries a payload of the state channel
};

/// Estimates PacketRecord::entities of the state datagrams to clients: it distributes `entities` motions over
/// them in proportion to their payload sizes, because a network does not decode payloads. A duplicate must
/// come directly after its original and gets the same number.
void share_out(std::span<PacketRecord> packets, std::size_t entities);

/// Writes the file of the option --packets; EVALUATION.md describes it. The error names the file.
[[nodiscard]] std::optional<Error> write_packets(const std::string& path,
                                                 std::span<const PacketRecord> packets);

}  // namespace reckoner::harness
