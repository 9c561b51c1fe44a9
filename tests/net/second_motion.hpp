// SPDX-License-Identifier: MIT
#pragma once

#include "second_decoder.hpp"

#include <array>
#include <cstdint>

// Section 2 of docs/WIRE.md, and the parts of it that section 3 needs.

namespace second {

inline constexpr double h = 0.70710678118654752440;

using Vector = std::array<double, 3>;

struct Quaternion {
  double w = 1, x = 0, y = 0, z = 0;
};

// The physical values of a motion.
struct Real {
  Vector p{}, v{}, a{}, w{};
  Quaternion q;
};

struct Steps {
  double p, v, a, w;
  unsigned b;
};

double most_of(unsigned b);
std::int64_t rounded(double x);
Steps steps_of(const Motion& m, const Numbers& n);
Quaternion orientation_of(const Motion& m, unsigned b);
Real real_of(const Motion& m, const Numbers& n);
Real carried(const Real& r, double dt);

}  // namespace second
