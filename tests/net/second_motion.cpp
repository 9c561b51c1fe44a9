// SPDX-License-Identifier: MIT
// Sections 2 and 3.1 of docs/WIRE.md.
#include "second_motion.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace second {
namespace {

Quaternion product(const Quaternion& a, const Quaternion& b) {
  return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
          a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

double to_float(double value) {
  return static_cast<double>(static_cast<float>(value));
}

double to_normal_float(double value) {
  return std::abs(value) < 1.17549435e-38 ? 0.0 : to_float(value);
}

std::pair<double, double> sine_and_cosine(double t) {
  if (!(t < 1e6)) t = 1e6;
  const double n = std::floor(0.63661977236758134308 * t + 0.5);
  const double r = (t - n * 1.57079632673412561417) - n * 6.07710050650619224932e-11;
  const double R = r * r;
  const auto over_factorial = [](int k) {
    double f = 1;
    for (int i = 2; i <= k; ++i)
      f *= i;
    return 1.0 / f;
  };
  double S = over_factorial(15);
  for (int k = 13; k >= 3; k -= 2)
    S = over_factorial(k) - R * S;
  double C = over_factorial(16);
  for (int k = 14; k >= 2; k -= 2)
    C = over_factorial(k) - R * C;
  const double sine = r - r * (R * S);
  const double cosine = 1.0 - R * C;
  switch (static_cast<std::int64_t>(n) % 4) {
    case 0:
      return {sine, cosine};
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    default:
      return {-cosine, sine};
  }
}

unsigned orientation_bits(unsigned B, int precision) {
  return static_cast<unsigned>(std::clamp(static_cast<int>(B) + precision - 3, 8, 15));
}

}  // namespace

double most_of(unsigned b) {
  return static_cast<double>((1 << (b - 1)) - 1);
}

std::int64_t rounded(double x) {
  if (!(x >= -7e13)) return -70'000'000'000'000;
  if (x > 7e13) x = 7e13;
  return static_cast<std::int64_t>(std::llround(x));
}

Steps steps_of(const Motion& m, const Numbers& n) {
  const double s = std::ldexp(1.0, 3 - m.precision);
  const double r = std::ldexp(1.0, -m.reach);
  const double P = n.threshold_m * 0.185;
  const double V = n.threshold_m * 0.222 / 0.15;
  const double A = n.threshold_m * 0.296 / (0.5 * 0.15 * 0.15);
  const double W = n.threshold_rad * 0.27 / 0.15;
  return {P * s, V * (s * r), A * ((s * r) * r), W * (s * r), orientation_bits(n.B, m.precision)};
}

Quaternion orientation_of(const Motion& m, unsigned b) {
  const double M = most_of(b);
  std::array<double, 4> c{};
  double R = 1;
  for (int i = 0, k = 0; i < 4; ++i) {
    if (i == m.largest) continue;
    c[static_cast<std::size_t>(i)] = static_cast<double>(m.o[static_cast<std::size_t>(k++)]) / M * h;
    R = R - c[static_cast<std::size_t>(i)] * c[static_cast<std::size_t>(i)];
  }
  c[static_cast<std::size_t>(m.largest)] = std::sqrt(R > 0 ? R : 0.0);
  const double length = std::sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2] + c[3] * c[3]);
  return {to_float(c[0] / length), to_float(c[1] / length), to_float(c[2] / length), to_float(c[3] / length)};
}

Real real_of(const Motion& m, const Numbers& n) {
  const Steps steps = steps_of(m, n);
  Real real;
  for (std::size_t i = 0; i < 3; ++i) {
    real.p[i] = static_cast<double>(m.p[i]) * steps.p;
    real.v[i] = to_float(static_cast<double>(m.v[i]) * steps.v);
    real.a[i] = to_float(static_cast<double>(m.a[i]) * steps.a);
    if (n.B > 0) real.w[i] = to_float(static_cast<double>(m.w[i]) * steps.w);
  }
  if (n.B > 0) real.q = orientation_of(m, steps.b);
  return real;
}

Real carried(const Real& r, double dt) {
  Real f = r;
  const double half = 0.5 * dt;
  for (std::size_t i = 0; i < 3; ++i) {
    f.p[i] = r.p[i] + (r.v[i] + r.a[i] * half) * dt;
    f.v[i] = to_normal_float(r.v[i] + r.a[i] * dt);
  }
  Quaternion t;
  const double square = r.w[0] * r.w[0] + r.w[1] * r.w[1] + r.w[2] * r.w[2];
  if (square > 1e-30) {
    const double rate = std::sqrt(square);
    const auto [sine, cosine] = sine_and_cosine(0.5 * rate * dt);
    const double g = sine / rate;
    t = {cosine, r.w[0] * g, r.w[1] * g, r.w[2] * g};
  }
  const Quaternion q = product(t, r.q);
  const double k = 1.0 / std::sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  f.q = {to_normal_float(q.w * k), to_normal_float(q.x * k), to_normal_float(q.y * k),
         to_normal_float(q.z * k)};
  return f;
}

void Numbers::derive(bool has_orientation) {
  B = has_orientation ? 9 : 0;
  while (B != 0 && B < 13 && h / most_of(B) > 0.06 * threshold_rad)
    ++B;
}

Motion read_full(Bits& bits, unsigned B) {
  Motion m;
  if (bits.flag()) {
    const bool framed = bits.flag();
    const bool owned = bits.flag();
    bits.must(framed && !owned);
    m.frame = bits.range(1, 1048576);
    m.generation = static_cast<std::int64_t>(bits.u(16));
  }
  m.on_route = bits.flag();
  m.teleports = static_cast<int>(bits.u(3));
  m.precision = static_cast<int>(bits.u(4));
  bits.must(m.precision <= 10);
  if (m.on_route) {
    m.route = static_cast<std::int64_t>(bits.eg(3)) + 1;
    m.distance = static_cast<std::int64_t>(bits.eg(12));
    bits.must(m.distance <= 0x7fffffff);
    m.speed = unfold(bits.eg(9));
    m.acceleration = unfold(bits.eg(0));
    return m;
  }
  m.reach = static_cast<int>(bits.u(2));
  m.prior = static_cast<int>(bits.u(2));
  m.wander = static_cast<int>(bits.u(3));
  if (B > 0) m.twist = static_cast<int>(bits.u(3));
  m.bends = bits.flag();
  if (m.bends) m.link = static_cast<int>(bits.u(2));
  if (!m.bends) m.steady = bits.flag();
  if (m.steady) m.sudden = bits.flag();
  m.p = bits.svec(48);
  if (B > 0) {
    const auto M = static_cast<std::int64_t>(most_of(orientation_bits(B, m.precision)));
    m.largest = static_cast<int>(bits.u(2));
    for (std::int64_t& o : m.o)
      o = bits.range(-M, M);
  }
  if (bits.flag()) return m;
  m.v = bits.svec(31);
  if (!m.steady) m.a = bits.svec(31);
  if (B > 0) m.w = bits.svec(31);
  return m;
}

}  // namespace second
