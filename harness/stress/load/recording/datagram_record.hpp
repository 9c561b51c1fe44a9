// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// A payload that a server sent in a tick.
struct SentPayload {
  std::uint16_t client = 0;  ///< index of the client, from 0
  std::uint16_t bytes = 0;
};

/// The sizes of all payloads that a server sent, by tick and client, so that a plain server can repeat them.
/// Also the mean size of the payloads it received.
struct DatagramRecord {
  std::vector<SentPayload> sent;
  std::vector<std::size_t> ends;  ///< for each tick: the end of its payloads in `sent`
  std::size_t uplink_bytes = 0;   ///< mean size of a client's payload

  void end_tick() { ends.push_back(sent.size()); }
  [[nodiscard]] std::size_t ticks() const { return ends.size(); }
  [[nodiscard]] std::span<const SentPayload> tick(std::size_t index) const;
};

[[nodiscard]] bool save(const DatagramRecord& record, const std::filesystem::path& path);
[[nodiscard]] Result<DatagramRecord> load_record(const std::filesystem::path& path);

}  // namespace reckoner::harness
