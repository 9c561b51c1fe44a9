// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/reckoning/export.hpp>

/// Elementary functions that return the same bits with every compiler, C library and processor. The functions
/// of <cmath> do not: C libraries round them differently. They use only IEEE + - * / and sqrt, and are
/// compiled without fused multiply-add. The relative error is below 1e-15, except where a comment says more.
namespace reckoner::portable {

/// Sine and cosine of an angle, rad. The absolute error is below 1e-15 for |x| <= 1e5 and grows beyond in
/// proportion to |x|. NaN for an infinite angle.
[[nodiscard]] RECKONER_RECKONING_API double sin(double x);
[[nodiscard]] RECKONER_RECKONING_API double cos(double x);

/// The angle of the point (x, y), rad, from -pi to pi. 0 or pi with the sign of y if both are zero.
[[nodiscard]] RECKONER_RECKONING_API double atan2(double y, double x);

/// e to the power of x. Infinity above about 709.7 and 0 below about -745.
[[nodiscard]] RECKONER_RECKONING_API double exp(double x);

/// The natural logarithm and the logarithm to base 2. NaN for x < 0, minus infinity for 0. log2() of a power
/// of two is exact.
[[nodiscard]] RECKONER_RECKONING_API double log(double x);
[[nodiscard]] RECKONER_RECKONING_API double log2(double x);

/// `base` to the power of `exponent`, for a positive base. The relative error grows with the absolute value
/// of exponent * log(base).
[[nodiscard]] RECKONER_RECKONING_API double pow(double base, double exponent);

/// The length of the vector (x, y). Overflows and underflows earlier than std::hypot(): the squares must be
/// finite.
[[nodiscard]] RECKONER_RECKONING_API double hypot(double x, double y);

}  // namespace reckoner::portable
