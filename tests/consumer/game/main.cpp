// SPDX-License-Identifier: MIT
// Shows one remote entity at 240 Hz for 0.8 s while a correction arrives. Exits with 0 if the entity was
// shown smoothly in position and velocity, ends on the corrected motion, and the network library links.
#include <cstdio>

#include <glm/geometric.hpp>

#include <reckoner/net/network_transport.hpp>
#include <reckoner/reckoning/remote_entity.hpp>

int main() {
  reckoner::Motion first;
  first.state.velocity = {10.0f, 0.0f, 0.0f};
  reckoner::RemoteEntity entity(first);

  reckoner::Motion second = first;
  second.time_s = 0.4;
  second.state.position = {4.0, 0.5, 0.0};
  second.state.velocity = {8.0f, 3.0f, 0.0f};

  constexpr double kFrame = 1.0 / 240.0;
  reckoner::State before = entity.shown(0.0);
  double largest_step_m = 0.0;
  float largest_velocity_step_mps = 0.0f;
  for (int frame = 1; frame <= 192; ++frame) {
    const double now_s = frame * kFrame;
    if (frame == 120) entity.receive(second, now_s, reckoner::frames_to_seconds(48, 240));
    const reckoner::State shown = entity.shown(now_s);
    largest_step_m = glm::max(largest_step_m, glm::distance(shown.position, before.position));
    largest_velocity_step_mps =
        glm::max(largest_velocity_step_mps, glm::distance(shown.velocity, before.velocity));
    before = shown;
  }

  const double end_error_m =
      glm::distance(before.position, reckoner::state_at(second, 192 * kFrame).position);
  const auto transport =
      reckoner::NetworkTransport::listen({.host = "127.0.0.1", .security = reckoner::Insecure{}});
  std::printf("largest step %.3f m, of velocity %.3f m/s; off at the end by %.9f m; socket: %s\n",
              largest_step_m, static_cast<double>(largest_velocity_step_mps), end_error_m,
              transport ? "open" : "none");
  // A snap would step by 0.8 m and 3.6 m/s; 15 m/s is 0.0625 m a frame.
  const bool smooth = largest_step_m < 0.0625 && largest_velocity_step_mps < 1.0f;
  return smooth && end_error_m < 1e-9 && transport ? 0 : 1;
}
