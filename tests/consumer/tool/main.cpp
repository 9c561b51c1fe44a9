// SPDX-License-Identifier: MIT
// Predicts a falling ball. Exits with 0 if it fell by g t^2 / 2.
#include <cmath>

#include <reckoner/reckoning/motion.hpp>

int main() {
  reckoner::State ball;
  ball.acceleration = {0.0f, 0.0f, -9.81f};
  const double fallen_m = -reckoner::extrapolate(ball, 2.0).position.z;
  return std::abs(fallen_m - 19.62) < 1e-5 ? 0 : 1;
}
