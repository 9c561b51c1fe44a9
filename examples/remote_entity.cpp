// SPDX-License-Identifier: MIT
// The first program in the README. The README quotes everything below this comment, and a test compares the
// two texts.
#include <cstdio>

#include <reckoner/reckoning/remote_entity.hpp>

int main() {
  reckoner::Motion first;  // published at t = 0: 10 m/s along x
  first.state.velocity = {10.0f, 0.0f, 0.0f};
  reckoner::RemoteEntity car(first);

  reckoner::Motion turn = first;  // published at t = 0.5 s: the car turns; the packet arrives 100 ms later
  turn.time_s = 0.5;
  turn.state.position = {5.0, 0.0, 0.0};
  turn.state.velocity = {9.0f, 2.0f, 0.0f};
  const double blend_s = reckoner::frames_to_seconds(6, 60);  // T: a blend lasts six frames at 60 Hz

  for (int frame = 0; frame < 60; ++frame) {
    const double now_s = frame / 60.0;  // server time
    if (frame == 36) car.receive(turn, now_s, blend_s);
    const reckoner::State shown = car.shown(now_s);  // continuous in position and velocity
    std::printf("%.3f s  %6.3f m  %6.3f m\n", now_s, shown.position.x, shown.position.y);
  }
}
