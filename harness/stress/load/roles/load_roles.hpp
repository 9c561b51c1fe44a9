// SPDX-License-Identifier: MIT
#pragma once

#include "harness/stress/load/roles/load_world.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace reckoner::harness {

// The processes of a load run. Each runs reckoner-harness with a hidden command and exchanges lines with the
// process that started it. A server prints "epoch S" and "listening on port P". Clients print "joined N"
// whenever more of them have joined. On the line "measure S", a process starts to measure. A server prints
// "result {...}" after S seconds, and clients print it on the line "report". A process ends on the line "end"
// or when its standard input is closed.

/// A client acknowledges after this interval, s, or in its next picture after that.
inline constexpr double kAckIntervalS = 0.05;

struct LoadServerOptions {
  LoadWorldOptions world;
  double tick_rate_hz = 60.0;
  double send_rate_hz = 0.0;  ///< ServerConfig::send_rate_hz
  unsigned threads = 1;
  std::string record;     ///< file of the DatagramRecord: a server writes it, and a plain server reads it
  std::size_t late = 0;   ///< additional slots for clients that join later
  std::string key;        ///< key file; clients make their tokens with this key; empty: insecure
  std::string transport;  ///< ListenConfig::transport
  std::string listen;     ///< address to listen on; empty: all addresses, IPv6 and IPv4
};

struct LoadClientsOptions {
  LoadWorldOptions world;
  std::string server;          ///< HOST:PORT
  std::string key;             ///< as in LoadServerOptions
  std::string transport;       ///< as in LoadServerOptions
  std::size_t count = 100;     ///< number of clients in this process
  std::uint64_t first_id = 1;  ///< client id in the token of the first of them
  double join_rate_hz = 200.0;
  bool dials_again =
      false;  ///< a client whose first attempt got no answer tries again; otherwise the run fails
  std::size_t measured = 0;     ///< number of them that are watched
  double epoch_s = 0.0;         ///< time of server time 0 on this machine's monotonic clock
  double tick_rate_hz = 60.0;   ///< of the server
  double frame_rate_hz = 60.0;  ///< how often a client receives, and acknowledges if it is time
  double loss_percent = 0.0;    ///< share of the arriving datagrams with motions that a client drops, percent
  std::size_t talk_bytes =
      0;  ///< during the measurement, every client sends as many reliable messages of this size as it can
  std::size_t payload_bytes = 16;  ///< size of a plain client's acknowledgement
};

/// The flood. The server must be on this machine.
struct LoadFloodOptions {
  std::string server;  ///< HOST:PORT
  double per_second = 0.0;
  double seconds = 0.0;
};

int run_load_server(const LoadServerOptions& options);
int run_load_clients(const LoadClientsOptions& options);
int run_load_flood(const LoadFloodOptions& options);
int run_plain_server(const LoadServerOptions& options);
int run_plain_clients(const LoadClientsOptions& options);

}  // namespace reckoner::harness
