// SPDX-License-Identifier: MIT
#include "programs/server/watch/watch.hpp"

namespace reckoner::program {

Result<std::unique_ptr<Watch>> Watch::open(const ServerOptions& options, NetworkTransport& udp,
                                           const OrInsecure<ServerSecurity>&) {
  if (options.watch_port) return Error{"--watch-port: this program was built without reckoner::web"};
  return std::unique_ptr<Watch>(std::make_unique<NoWatch>(udp));
}

}  // namespace reckoner::program
