// SPDX-License-Identifier: MIT
#include "server/src/server_settings.hpp"

#include "net/src/codec/codes_text.hpp"
#include "net/src/config/archetype_settings.hpp"
#include "server/src/server_impl.hpp"

#include <memory>
#include <utility>

namespace reckoner {

std::optional<Error> find_invalid_setting(const ServerConfig& config) {
  if (auto error = find_invalid<ServerConfig>(kServerSettings, config)) return error;
  if (config.updates_per_second > 0.0 && config.fixed_rate_hz > 0.0) {
    return Error{"updates_per_second is " + number_text(config.updates_per_second) +
                 " and fixed_rate_hz is " + number_text(config.fixed_rate_hz) +
                 "; at most one of them may be above 0"};
  }
  if (auto error = find_invalid_setting(config.archetypes)) return error;
  for (std::size_t i = 0; i < config.archetypes.size(); ++i) {
    const std::string& codes = config.archetypes[i].codes;
    if (!codes.empty() && !read_codes(codes))
      return Error{"archetypes[" + std::to_string(i) +
                   "].codes is not a text of reckoner-harness replay --learn-codes"};
  }
  return std::nullopt;
}

bool is_valid(const OwnershipRules& rules) {
  return !find_invalid<OwnershipRules>(kOwnershipSettings, rules);
}

Result<Server> Server::create(ServerConfig config, Transport& transport) {
  if (auto error = find_invalid_setting(config)) return std::move(*error);
  return Impl::make(std::move(config), transport);
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;
Server::Server(Server&&) noexcept = default;
Server& Server::operator=(Server&&) noexcept = default;

Server make_test_server(ServerConfig config, Transport& transport, const ServerTestSwitches& switches) {
  return Server::Impl::make(require_valid(std::move(config)), transport, switches);
}

}  // namespace reckoner
