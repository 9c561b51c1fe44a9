// SPDX-License-Identifier: MIT
#pragma once

#include "harness/stress/load/load_world.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace reckoner::harness {

// The processes of a load run. Each is this program again, under a command that its help leaves out, and
// talks to the one that started it in lines: a server says "epoch S" and "listening on port P", clients say
// "joined N" whenever more have joined; all are told "measure S", say "result {...}" when that has passed,
// and end when told to or when nobody is left to tell them.

struct LoadServerOptions {
  LoadWorldOptions world;
  double tick_rate_hz = 60.0;
  unsigned threads = 1;
  std::string record;    ///< file that a server writes what it sent to, and a plain one reads it from
  std::size_t late = 0;  ///< places for clients that come later
  std::string key;  ///< file with the key of the tokens that its clients make themselves; empty: insecure
};

struct LoadClientsOptions {
  LoadWorldOptions world;
  std::string server;          ///< HOST:PORT
  std::string key;             ///< as the server's
  std::size_t count = 100;     ///< clients in this process
  std::uint64_t first_id = 1;  ///< of them, as their tokens say
  double join_rate_hz = 200.0;
  std::size_t measured = 0;  ///< of them, as many are watched
  double epoch_s = 0.0;      ///< server time 0 on this machine's monotonic clock
  double frame_rate_hz = 60.0;
  std::size_t payload_bytes = 16;  ///< of a plain client's acknowledgement
};

/// Strangers who flood a server of this machine (only).
struct LoadFloodOptions {
  std::string server;  ///< HOST:PORT
  double per_second = 0.0;
  double seconds = 0.0;
};

/// Acknowledgements: so long, or so many datagrams, after the last one.
inline constexpr double kAckIntervalS = 0.05;
inline constexpr int kDatagramsPerAck = 8;

int run_load_server(const LoadServerOptions& options);
int run_load_clients(const LoadClientsOptions& options);
int run_load_flood(const LoadFloodOptions& options);
int run_plain_server(const LoadServerOptions& options);
int run_plain_clients(const LoadClientsOptions& options);

}  // namespace reckoner::harness
