// SPDX-License-Identifier: MIT
#include "web/src/channel/channel_config.hpp"

namespace reckoner::web {
namespace {

bool is_count(std::size_t value) {
  return value >= 1 && value <= 65'535;
}
bool is_time(double seconds) {
  return seconds >= 0.1 && seconds <= 60.0;
}

}  // namespace

std::optional<Error> find_invalid_setting(const ChannelConfig& config) {
  if (config.address.host.is_any() || config.address.host.is_multicast())
    return Error{"address: browsers need one specific address of the server"};
  if (!is_count(config.max_peers)) return Error{"max_peers: must be from 1 to 65535"};
  if (!is_count(config.max_peers_per_host)) return Error{"max_peers_per_host: must be from 1 to 65535"};
  if (!is_count(config.max_half_open)) return Error{"max_half_open: must be from 1 to 65535"};
  if (!(config.offers_per_second > 0.0 && config.offers_per_second <= 1e6))
    return Error{"offers_per_second: must be above 0 and at most 1000000 1/s"};
  if (!is_time(config.open_s)) return Error{"open_s: must be from 0.1 to 60 s"};
  if (!is_time(config.silence_s)) return Error{"silence_s: must be from 0.1 to 60 s"};
  if (config.label.empty() || config.label.size() > 64) return Error{"label: must have 1 to 64 bytes"};
  return find_invalid_setting(config.limits);
}

}  // namespace reckoner::web
