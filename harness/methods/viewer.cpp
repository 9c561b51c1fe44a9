// SPDX-License-Identifier: MIT
#include "harness/methods/viewer.hpp"

#include <algorithm>
#include <utility>

namespace reckoner::harness {

Viewer::Viewer(const scenario::Source& source, ClientConfig config, Transport& transport, ClientClock clock,
               double start_s, const ClientTestSwitches& switches)
    : client_(make_test_client(std::move(config), transport, switches)),
      clock_(std::move(clock)),
      start_s_(start_s) {
  for (std::size_t i = 0; i < source.size(); ++i)
    indices_.emplace(source.entity(i).name, i);
}

std::span<const ShownEntity> Viewer::frame(double time_s, std::vector<ShownPose>& shown) {
  update(time_s);
  const auto drawn = client_.shown();
  const bool present = !is_buffered(client_.playout().mode) && delay_s() == 0.0;
  for (const ShownEntity& entity : drawn) {
    const auto found = indices_.find(entity.info->name);
    if (found == indices_.end()) {
      if (stranger_.empty()) stranger_ = entity.info->name;
      continue;
    }
    // In present mode the client means the pose for the time of this picture, even if its estimate of server
    // time is wrong.
    shown.push_back({found->second, entity.shown.pose(), present ? time_s : entity.shown_time_s,
                     entity.frame != EntityId{}});
  }
  std::ranges::sort(shown, {}, &ShownPose::entity);
  return drawn;
}

std::optional<double> Viewer::clock_error_s(double time_s) const {
  const auto estimate = client_.server_time_s();
  return estimate ? std::optional(*estimate - time_s) : std::nullopt;
}

std::string Viewer::hidden_reason() const {
  if (client_.status() == ClientStatus::refused || client_.status() == ClientStatus::disconnected)
    return "the client is not connected: " + client_.refusal();
  if (client_.status() != ClientStatus::joined) return "the client has not joined";
  if (!client_.server_time_s()) return "the client does not know the server's clock";
  if (!stranger_.empty()) return "the client shows an entity with the unknown name '" + stranger_ + "'";
  return {};
}

}  // namespace reckoner::harness
