// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// A payload that a server sent in some tick.
struct SentPayload {
  std::uint16_t client = 0;  ///< the clients are numbered from 0
  std::uint16_t bytes = 0;
};

/// What a server sent to whom, tick by tick, for another that only repeats it; and how large what it received
/// was.
struct DatagramRecord {
  std::vector<SentPayload> sent;
  std::vector<std::size_t> ends;  ///< by tick: where in `sent` it ends
  std::size_t uplink_bytes = 0;   ///< of a client's payload, mean

  void end_tick() { ends.push_back(sent.size()); }
  [[nodiscard]] std::size_t ticks() const { return ends.size(); }
  [[nodiscard]] std::span<const SentPayload> tick(std::size_t index) const;
};

[[nodiscard]] bool save(const DatagramRecord& record, const std::filesystem::path& path);
[[nodiscard]] Result<DatagramRecord> load_record(const std::filesystem::path& path);

}  // namespace reckoner::harness
