// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

namespace reckoner::test {

/// A row of NetworkTransport, with or without a key. Each test of this folder runs over every row: a game
/// must not notice which one carries it.
struct TransportRow {
  const char* name;       ///< in the names of the tests
  const char* transport;  ///< ListenConfig::transport
  bool has_key;           ///< false: Insecure{}
};

inline constexpr TransportRow kEnetRow{"enet", "enet", false};
inline constexpr TransportRow kUdpRow{"udp", "udp", false};
inline constexpr TransportRow kSealedUdpRow{"udp_with_key", "udp", true};
inline constexpr std::array kTransportRows{kEnetRow, kUdpRow, kSealedUdpRow};

/// How GoogleTest prints a row.
inline void PrintTo(const TransportRow& row, std::ostream* out) {
  *out << row.name;
}

inline std::string name_of_row(const testing::TestParamInfo<TransportRow>& info) {
  return info.param.name;
}

}  // namespace reckoner::test
