// SPDX-License-Identifier: MIT
#include "harness/stress/load/recording/datagram_record.hpp"

#include "scenario/trace/utf8_path.hpp"

#include <fstream>
#include <string>

namespace reckoner::harness {

std::span<const SentPayload> DatagramRecord::tick(std::size_t index) const {
  const std::size_t begin = index == 0 ? 0 : ends[index - 1];
  return std::span(sent).subspan(begin, ends[index] - begin);
}

bool save(const DatagramRecord& record, const std::filesystem::path& path) {
  std::ofstream file(path);
  file << record.uplink_bytes << '\n';
  for (std::size_t i = 0; i < record.ticks(); ++i) {
    const auto tick = record.tick(i);
    file << tick.size();
    for (const SentPayload& payload : tick)
      file << ' ' << payload.client << ' ' << payload.bytes;
    file << '\n';
  }
  return static_cast<bool>(file.flush());
}

Result<DatagramRecord> load_record(const std::filesystem::path& path) {
  std::ifstream file(path);
  DatagramRecord record;
  if (!(file >> record.uplink_bytes)) return Error{"cannot read " + utf8_of(path)};
  bool whole = true;
  for (std::size_t count = 0; whole && file >> count;) {
    SentPayload payload;
    for (std::size_t i = 0; whole && i < count; ++i) {
      whole = static_cast<bool>(file >> payload.client >> payload.bytes);
      if (whole) record.sent.push_back(payload);
    }
    record.end_tick();
  }
  if (!whole || !file.eof() || record.ticks() == 0)
    return Error{"not a record of datagrams: " + utf8_of(path)};
  return record;
}

}  // namespace reckoner::harness
