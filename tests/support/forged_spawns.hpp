// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/datagram.hpp"
#include "net/src/messages/spawns.hpp"
#include "tests/support/tap.hpp"

#include <span>

#include <reckoner/net/transport.hpp>

namespace reckoner::test {

/// A datagram of a server with this head, and with these spawns and ends only.
inline Bytes forged_spawns(ServerHeader head, std::span<const SpawnEntry> entries) {
  head.update_count = 0;
  head.has_predictions = head.has_fields = head.has_messages = head.has_reliable = false;
  head.has_spawns = !entries.empty();
  Bytes buffer(16 * kMaxDatagramBytes);
  BitWriter writer{buffer};
  write(writer, head);
  SpawnsWriter section;
  for (const SpawnEntry& entry : entries)
    (void)section.add(writer, entry, 8 * buffer.size());
  section.finish(writer);
  buffer.resize(writer.finish().size());
  return buffer;
}

}  // namespace reckoner::test
