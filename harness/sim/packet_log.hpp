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
  /// Size of the payload; 0 for datagrams of the transport itself, such as acknowledgements.
  std::size_t bytes = 0;
  std::size_t wire_bytes = 0;
  std::size_t entities = 0;  ///< estimated number of motions in the datagram
  bool down = true;          ///< true: sent from server to client; false: from client to server
  bool duplicate = false;    ///< true for the second copy made by the link
  bool state = false;        ///< true: carries a datagram of Transport
};

/// Estimates PacketRecord::entities of the state datagrams to clients. A network does not decode payloads, so
/// this divides `entities` motions among the datagrams in proportion to their payload sizes. In `packets`, a
/// duplicate must come directly after its original. It gets the number of its original.
void distribute_entities(std::span<PacketRecord> packets, std::size_t entities);

/// Writes the CSV file of the option --packets, with one row per record. The field arrived_s is empty if the
/// datagram was lost. The error names the file.
[[nodiscard]] std::optional<Error> write_packets(const std::string& path,
                                                 std::span<const PacketRecord> packets);

}  // namespace reckoner::harness
