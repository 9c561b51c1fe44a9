// SPDX-License-Identifier: MIT
// Shows one remote entity for a second, with an update arriving late half way.
#include <cstdio>

#include <reckoner/client/remote_entity.hpp>

int main() {
  // [readme]
  reckoner::Motion first;  // what the server published at t = 0: 10 m/s along x
  first.state.velocity = {10.0f, 0.0f, 0.0f};
  reckoner::RemoteEntity car(first);

  reckoner::Motion turn = first;  // at t = 0.5 s it brakes and turns; the packet needs 100 ms
  turn.time_s = 0.5;
  turn.state.position = {5.0, 0.0, 0.0};
  turn.state.velocity = {9.0f, 2.0f, 0.0f};
  const double blend_s = reckoner::frames_to_seconds(6, 60);  // T: six frames at 60 Hz

  for (int frame = 0; frame < 60; ++frame) {
    const double now_s = frame / 60.0;  // server time, as client time sync gives it
    if (frame == 36) car.receive(turn, now_s, blend_s);
    const reckoner::State shown = car.shown(now_s);  // no jump in position or velocity
    std::printf("%.3f s  x %6.3f m  y %6.3f m  vy %6.3f m/s\n", now_s, shown.position.x, shown.position.y,
                shown.velocity.y);
  }
  // [readme]
}
