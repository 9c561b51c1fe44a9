// SPDX-License-Identifier: MIT
#include "harness/methods/shot_range.hpp"

#include "harness/metrics/measured_pictures.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <glm/geometric.hpp>

namespace reckoner::harness {
namespace {

constexpr double kLateS = 0.5;
constexpr double kKeepS = 1.5;  // how long pictures are kept for shots that are still in flight

}  // namespace

// True if the figures include the entity in this picture. They leave out the first moments of the run and of
// each entity. Call this for every entity of every picture, in order.
bool ShotRange::counts(EntityId id, double time_s) {
  auto found = std::find_if(first_s_.begin(), first_s_.end(), [&](const auto& f) { return f.first == id; });
  if (found == first_s_.end()) found = first_s_.insert(first_s_.end(), {id, time_s});
  return time_s - start_s_ >= kSkipRunS && time_s - found->second >= kSkipEntityS;
}

void ShotRange::drawn(Client& client, double local_s, double time_s, std::span<const ShownEntity> shown) {
  const auto client_s = client.server_time_s();
  if (!client_s) return;
  Frame frame{next_number_++, time_s, *client_s, {}};
  for (const ShownEntity& entity : shown) {
    if (counts(entity.id, time_s)) frame.drawn.push_back({entity.id, entity.shown.position});
  }
  frames_.push_back(std::move(frame));
  while (frames_.front().time_s < time_s - kKeepS)
    frames_.pop_front();
  const double due = std::floor((time_s - start_s_) * shots_per_second_);
  if (due <= fired_) return;
  fired_ = due;
  std::array<std::byte, sizeof(std::uint32_t)> payload{};
  std::memcpy(payload.data(), &frames_.back().number, payload.size());
  (void)client.send(payload, Delivery::unreliable, *client_s);
  client.update(local_s);  // sends the message at once
}

void ShotRange::observe(Server& server, double time_s) {
  while (const auto message = server.poll_message()) {
    std::uint32_t number = 0;
    if (message->payload.size() != sizeof number) continue;
    std::memcpy(&number, message->payload.data(), sizeof number);
    const auto frame =
        std::find_if(frames_.begin(), frames_.end(), [&](const Frame& f) { return f.number == number; });
    if (frame == frames_.end() || message->time_s != frame->client_s) continue;
    ++shots_;
    compare(server, *frame, errors_m_);
  }
  for (Frame& frame : frames_) {
    if (frame.time_s > time_s - kLateS) break;
    compare(server, frame, late_errors_m_);
    frame.drawn.clear();
  }
}

void ShotRange::compare(Server& server, const Frame& frame, std::vector<double>& errors_m) {
  for (const Drawn& drawn : frame.drawn) {
    ++poses_;
    const auto pose = server.pose_seen_by(client_, drawn.id, frame.client_s);
    if (pose) {
      errors_m.push_back(glm::distance(pose->position, drawn.position));
    } else {
      ++unknown_;
    }
  }
}

RewindFigures ShotRange::figures() const {
  return {describe(errors_m_), describe(late_errors_m_), shots_, poses_, unknown_};
}

}  // namespace reckoner::harness
