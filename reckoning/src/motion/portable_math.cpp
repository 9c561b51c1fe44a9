// SPDX-License-Identifier: MIT
#include "reckoning/src/motion/portable_math.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

namespace reckoner::portable {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// pi/2 and ln 2 in two or three parts. The first parts end in zero bits, so that their products with small
// whole numbers are exact (Cody and Waite 1980).
constexpr double kHalfPi1 = 0x1.921fb544p+0;
constexpr double kHalfPi2 = 0x1.0b4611a6p-34;
constexpr double kHalfPi3 = 0x1.3198a2e037073p-69;
constexpr double kLn2High = 0x1.62e42fefap-1;
constexpr double kLn2Low = 0x1.cf79abc9e3b3ap-40;

// Evaluates c[0] + c[1] x + c[2] x^2 + ...
template <std::size_t N>
double polynomial(const double (&c)[N], double x) {
  double sum = c[N - 1];
  for (std::size_t i = N - 1; i > 0; --i)
    sum = sum * x + c[i - 1];
  return sum;
}

// Taylor series on [-pi/4, pi/4].
double sine_of_small(double r) {
  constexpr double c[] = {
      -1.0 / 6.0,        1.0 / 120.0,        -1.0 / 5040.0,          1.0 / 362880.0,
      -1.0 / 39916800.0, 1.0 / 6227020800.0, -1.0 / 1307674368000.0, 1.0 / 355687428096000.0};
  return r + r * (r * r * polynomial(c, r * r));
}
double cosine_of_small(double r) {
  constexpr double c[] = {1.0 / 24.0,        -1.0 / 720.0,         1.0 / 40320.0,         -1.0 / 3628800.0,
                          1.0 / 479001600.0, -1.0 / 87178291200.0, 1.0 / 20922789888000.0};
  const double r2 = r * r;
  return 1.0 - (0.5 * r2 - r2 * (r2 * polynomial(c, r2)));
}

double sine_after_quarter_turns(double x, int quarter_turns) {
  if (!std::isfinite(x)) return kNaN;
  const double turns = std::nearbyint(x / (0.5 * std::numbers::pi));
  const double r = ((x - turns * kHalfPi1) - turns * kHalfPi2) - turns * kHalfPi3;
  const auto quadrant = static_cast<int>(turns - 4.0 * std::floor(0.25 * turns)) + quarter_turns;
  const double value = quadrant & 1 ? cosine_of_small(r) : sine_of_small(r);
  return quadrant & 2 ? -value : value;
}

// The arc tangent of 0 <= t <= 1. The formula atan(t) = 2 atan(t / (1 + sqrt(1 + t^2))) makes the argument
// small enough for a Taylor series.
double small_arc_tangent(double t) {
  constexpr double c[] = {-1.0 / 3.0,  1.0 / 5.0,  -1.0 / 7.0,  1.0 / 9.0,  -1.0 / 11.0, 1.0 / 13.0,
                          -1.0 / 15.0, 1.0 / 17.0, -1.0 / 19.0, 1.0 / 21.0, -1.0 / 23.0};
  const double half = t / (1.0 + std::sqrt(1.0 + t * t));
  const double quarter = half / (1.0 + std::sqrt(1.0 + half * half));
  return 4.0 * (quarter + quarter * (quarter * quarter * polynomial(c, quarter * quarter)));
}

struct Logarithm {
  double exponent;  // the whole number k
  double rest;      // ln(x / 2^k), where x / 2^k is between sqrt(1/2) and sqrt(2)
};

// ln(m) = 2 atanh(s), s = (m - 1) / (m + 1). `x` must be positive and finite.
Logarithm logarithm_of(double x) {
  constexpr double c[] = {1.0 / 3.0,  1.0 / 5.0,  1.0 / 7.0,  1.0 / 9.0,  1.0 / 11.0,
                          1.0 / 13.0, 1.0 / 15.0, 1.0 / 17.0, 1.0 / 19.0, 1.0 / 21.0};
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.5 * std::numbers::sqrt2) {
    m *= 2.0;
    --exponent;
  }
  const double s = (m - 1.0) / (m + 1.0);
  return {static_cast<double>(exponent), 2.0 * (s + s * (s * s * polynomial(c, s * s)))};
}

// Returns the logarithm of 0, of infinity and of values without a logarithm; 0 for all others.
double special_logarithm(double x) {
  if (!(x >= 0.0)) return kNaN;
  if (x == 0.0) return -kInfinity;
  return x == kInfinity ? kInfinity : 0.0;
}

}  // namespace

double sin(double x) {
  return sine_after_quarter_turns(x, 0);
}

double cos(double x) {
  return sine_after_quarter_turns(x, 1);
}

double atan2(double y, double x) {
  const double across = std::abs(y);
  const double along = std::abs(x);
  double angle = 0.0;
  if (std::isnan(across) || std::isnan(along)) {
    return kNaN;
  } else if (across == along) {
    angle = across == 0.0 ? 0.0 : 0.25 * std::numbers::pi;
  } else if (across < along) {
    angle = small_arc_tangent(across / along);
  } else {
    angle = 0.5 * std::numbers::pi - small_arc_tangent(along / across);
  }
  if (std::signbit(x)) angle = std::numbers::pi - angle;
  return std::copysign(angle, y);
}

double exp(double x) {
  constexpr double c[] = {1.0 / 2.0,       1.0 / 6.0,        1.0 / 24.0,        1.0 / 120.0,
                          1.0 / 720.0,     1.0 / 5040.0,     1.0 / 40320.0,     1.0 / 362880.0,
                          1.0 / 3628800.0, 1.0 / 39916800.0, 1.0 / 479001600.0, 1.0 / 6227020800.0};
  if (std::isnan(x)) return kNaN;
  if (x > 710.0) return kInfinity;
  if (x < -746.0) return 0.0;
  const double k = std::nearbyint(x / std::numbers::ln2);
  const double r = (x - k * kLn2High) - k * kLn2Low;
  return std::ldexp(1.0 + (r + r * r * polynomial(c, r)), static_cast<int>(k));
}

double log(double x) {
  if (const double special = special_logarithm(x); special != 0.0) return special;
  const Logarithm parts = logarithm_of(x);
  return parts.exponent * kLn2High + (parts.exponent * kLn2Low + parts.rest);
}

double log2(double x) {
  if (const double special = special_logarithm(x); special != 0.0) return special;
  const Logarithm parts = logarithm_of(x);
  return parts.exponent + parts.rest * std::numbers::log2e;
}

double pow(double base, double exponent) {
  return exp(exponent * log(base));
}

double hypot(double x, double y) {
  return std::sqrt(x * x + y * y);
}

}  // namespace reckoner::portable
