// SPDX-License-Identifier: MIT
// Section 3 of docs/WIRE.md.
#include "second_motion.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace second {
namespace {

unsigned order(double e, int offset, int slope) {
  int c = 0;
  if (e > 0) {
    const auto n = static_cast<std::uint64_t>(4.0 * (1.0 + std::min(e, 1e9)));
    const auto d = static_cast<int>(std::bit_width(n));
    c = 2 * (d - 3) + static_cast<int>((n >> (d - 2)) & 1);
  }
  return static_cast<unsigned>(std::clamp((slope * c + offset) / 16, 0, 40));
}

// Three correlated numbers, decoded one after another: each known number updates the expectation of the next
// (section 3.4).
struct SequentialEstimate {
  std::array<Vector, 3> K{};
  Vector m{};
  std::size_t i = 0;

  double variance() const { return std::max(K[i][i], 1e-6); }
  double deviation() const { return std::sqrt(variance()); }
  double meet(double number) {
    const double off = number - m[i];
    const double witness = std::abs(off) / deviation();
    const double here = variance();
    for (std::size_t j = i + 1; j < 3; ++j) {
      const double G = K[j][i] / here;
      m[j] = m[j] + G * off;
      for (std::size_t k = i + 1; k < 3; ++k)
        K[j][k] = K[j][k] - G * K[i][k];
    }
    ++i;
    return witness;
  }
};

class Residual {
 public:
  Residual(Bits& bits, const Motion& baseline, double dt, const Numbers& n)
      : bits_(bits), base_(baseline), n_(n), dt_(dt), r0_(real_of(baseline, n)), f_(carried(r0_, dt)) {}

  Motion read() {
    m_.teleports = base_.teleports;
    m_.frame = base_.frame;
    m_.generation = base_.generation;
    coding_mode();
    if (m_.bends) m_.link = static_cast<int>(bits_.u(2));
    if (m_.steady) m_.sudden = bits_.flag();
    steps_ = steps_of(m_, n_);
    per_dt_ = dt_ > 0 ? 1.0 / dt_ : 0.0;
    const double share = dt_ > 0 ? dt_ / 0.15 : 0.0;
    const double spread = share * std::sqrt(share);
    stray_ = std::ldexp(spread, m_.wander) * (n_.threshold_m * 0.185);
    place();
    if (n_.B > 0) {
      turn_ = std::ldexp(spread, m_.twist) * (h / most_of(n_.B));
      turn();
    }
    return m_;
  }

 private:
  int same(int baseline, unsigned n) { return bits_.flag() ? baseline : static_cast<int>(bits_.u(n)); }

  void coding_mode() {
    const std::array<double, 4> q{f_.q.w, f_.q.x, f_.q.y, f_.q.z};
    int largest = 0;
    for (int i = 1; i < 4; ++i) {
      if (std::abs(q[static_cast<std::size_t>(i)]) > std::abs(q[static_cast<std::size_t>(largest)]))
        largest = i;
    }
    m_.precision = base_.precision;
    m_.reach = base_.reach;
    m_.prior = base_.prior;
    m_.wander = base_.wander;
    m_.twist = base_.twist;
    m_.bends = base_.bends;
    m_.steady = base_.steady;
    m_.largest = n_.B > 0 ? largest : 0;
    if (bits_.flag()) return;
    bits_.must(!bits_.flag());
    m_.precision = same(base_.precision, 4);
    bits_.must(m_.precision <= 10);
    m_.reach = same(base_.reach, 2);
    m_.prior = same(base_.prior, 2);
    m_.wander = same(base_.wander, 3);
    m_.bends = bits_.flag();
    m_.steady = !m_.bends && bits_.flag();
    if (n_.B == 0) return;
    m_.twist = same(base_.twist, 3);
    m_.largest = same(largest, 2);
  }

  std::int64_t number(std::size_t rule, double expected, std::int64_t forecast, std::int64_t most) {
    const std::int64_t n = forecast + unfold(bits_.gr(order(expected, n_.offset[rule], n_.slope[rule])));
    bits_.must(n >= -most && n <= most);
    return bits_.good() ? n : 0;
  }

  static constexpr std::int64_t kRate = (std::int64_t{1} << 30) - 1;

  void read_p(std::size_t i, std::size_t rule, double expected) {
    const std::int64_t forecast = rounded(f_.p[i] / steps_.p);
    m_.p[i] = number(rule, expected, forecast, std::int64_t{1} << 47);
    dp_[i] = static_cast<double>(m_.p[i] - forecast) * steps_.p;
  }
  std::int64_t v_forecast(std::size_t i) const {
    return rounded(
        (f_.v[i] + n_.velocity[0] / 16.0 * dp_[i] * per_dt_ + n_.velocity[1] / 16.0 * r0_.a[i] * dt_) /
        steps_.v);
  }
  void read_v(std::size_t i, std::size_t rule, double expected_mps) {
    const std::int64_t forecast = v_forecast(i);
    m_.v[i] = number(rule, expected_mps / steps_.v, forecast, kRate);
    dv_[i] = static_cast<double>(m_.v[i] - forecast) * steps_.v;
  }
  std::int64_t a_forecast(std::size_t i) const {
    if (m_.steady) return 0;
    const auto& prior = n_.priors[static_cast<std::size_t>(m_.prior)];
    const auto& g = i == 2 ? prior.vertical : prior.horizontal;
    const double u = static_cast<double>(m_.v[i]) * steps_.v;
    const double D = u - f_.v[i];
    return rounded(1.0 / 16.0 *
                   (g[0] * r0_.a[i] + (g[1] * dp_[i] * per_dt_ + g[2] * D) * per_dt_ + g[3] * u) / steps_.a);
  }
  void read_a(std::size_t i, std::size_t rule, double expected_mps2) {
    if (m_.steady) return;
    const std::int64_t forecast = a_forecast(i);
    m_.a[i] = number(rule, expected_mps2 / steps_.a, forecast, kRate);
    da_[i] = static_cast<double>(m_.a[i] - forecast) * steps_.a;
  }
  double T(std::size_t i) const { return (std::abs(dv_[i]) + std::abs(dp_[i]) * per_dt_) * per_dt_; }

  void use_forecast(std::size_t i) {
    m_.v[i] = v_forecast(i);
    m_.a[i] = a_forecast(i);
    bits_.must(std::abs(m_.v[i]) <= kRate && std::abs(m_.a[i]) <= kRate);
  }

  void place() {
    const double S =
        0.5 * (0.5 * std::sqrt(r0_.a[0] * r0_.a[0] + r0_.a[1] * r0_.a[1]) * dt_ * dt_ / steps_.p +
               stray_ / steps_.p);
    read_p(0, 0, S);
    read_p(1, 1, 0.5 * (std::abs(dp_[0]) / steps_.p + S));
    if (dp_[0] == 0 && dp_[1] == 0 && bits_.flag()) {
      use_forecast(0);
      use_forecast(1);
    } else {
      read_v(0, 2, (std::abs(dp_[0]) + 0.5 * std::abs(dp_[1])) * per_dt_);
      read_v(1, 3, (std::abs(dp_[1]) + 0.5 * std::abs(dp_[0])) * per_dt_ + 0.5 * std::abs(dv_[0]));
      read_a(0, 4, T(0));
      read_a(1, 5, T(1) + std::abs(da_[0]));
    }
    read_p(2, 6, (std::abs(r0_.v[2]) + std::abs(r0_.a[2]) * dt_) * dt_ / steps_.p);
    if (dp_[2] == 0 && bits_.flag()) {
      use_forecast(2);
    } else {
      read_v(2, 7, std::abs(dp_[2]) * per_dt_);
      read_a(2, 8, T(2));
    }
  }

  void turn() {
    const auto& prior = n_.priors[static_cast<std::size_t>(m_.prior)];
    const auto [w, x, y, z] = f_.q;
    const Vector body_y{2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)};
    std::array<Vector, 3> C{};
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t k = 0; k < 3; ++k)
        C[i][k] = std::ldexp(1.0, -prior.pitch) * body_y[i] * body_y[k];
      C[i][i] = C[i][i] + std::ldexp(1.0, -prior.other);
    }
    C[2][2] = C[2][2] + 1.0;
    const bool as_forecast = orientation(C);
    rates(C, as_forecast);
  }

  // True if all three numbers equal the forecast.
  bool orientation(const std::array<Vector, 3>& C) {
    const double M = most_of(steps_.b);
    const std::array<double, 4> q{f_.q.w, f_.q.x, f_.q.y, f_.q.z};
    const auto [w, x, y, z] = f_.q;
    const std::array<Vector, 4> rows{Vector{-x, -y, -z}, {w, z, -y}, {-z, w, x}, {y, -x, w}};
    const auto left_out = static_cast<std::size_t>(m_.largest);
    const double unit =
        (q[left_out] < 0 ? -1.0 : 1.0) / std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    std::array<Vector, 3> J{};
    std::array<std::int64_t, 3> t{};
    for (std::size_t i = 0, n = 0; i < 4; ++i) {
      if (i == left_out) continue;
      for (std::size_t k = 0; k < 3; ++k)
        J[n][k] = 0.5 * (M / h) * rows[i][k];
      t[n++] = rounded(std::clamp(q[i] * unit / h, -1.0, 1.0) * M);
    }
    SequentialEstimate estimate;
    for (std::size_t i = 0; i < 3; ++i) {
      Vector JC{};
      for (std::size_t k = 0; k < 3; ++k)
        JC[k] = J[i][0] * C[0][k] + J[i][1] * C[1][k] + J[i][2] * C[2][k];
      for (std::size_t n = 0; n < 3; ++n)
        estimate.K[i][n] = JC[0] * J[n][0] + JC[1] * J[n][1] + JC[2] * J[n][2];
    }
    double N = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const double scale = i == 0 ? turn_ : i == 1 ? 0.6 * N + 0.4 * turn_ : 0.4 * N + 0.2 * turn_;
      const double mean = static_cast<double>(t[i]) + estimate.m[i];
      const std::int64_t forecast = rounded(mean < -M ? -M : mean > M ? M : mean);
      m_.o[i] = number(9 + i, scale * estimate.deviation(), forecast, static_cast<std::int64_t>(M));
      N += estimate.meet(static_cast<double>(m_.o[i] - t[i]));
    }
    return m_.o == t;
  }

  void rates(const std::array<Vector, 3>& C, bool as_forecast) {
    const auto& prior = n_.priors[static_cast<std::size_t>(m_.prior)];
    const Quaternion& a = f_.q;
    const Quaternion b = orientation_of(m_, steps_.b);
    const double twice = b.w * a.w + b.x * a.x + b.y * a.y + b.z * a.z < 0 ? -2.0 : 2.0;
    const Vector d{twice * (b.x * a.w - b.w * a.x - b.y * a.z + b.z * a.y),
                   twice * (b.y * a.w - b.w * a.y - b.z * a.x + b.x * a.z),
                   twice * (b.z * a.w - b.w * a.z - b.x * a.y + b.y * a.x)};
    const std::array<std::size_t, 3> axes{2, 0, 1};
    Vector plain{};
    SequentialEstimate estimate;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto& g = axes[i] == 2 ? prior.yaw : prior.tilt;
      plain[i] = 1.0 / 16.0 * (g[0] * r0_.w[axes[i]] + g[1] * d[axes[i]] * per_dt_) / steps_.w;
      for (std::size_t k = 0; k < 3; ++k)
        estimate.K[i][k] = C[axes[i]][axes[k]];
    }
    if (as_forecast && bits_.flag()) {
      for (std::size_t i = 0; i < 3; ++i) {
        m_.w[axes[i]] = rounded(plain[i]);
        bits_.must(std::abs(m_.w[axes[i]]) <= kRate);
      }
      return;
    }
    const double tilt = (0.7 * std::sqrt(d[0] * d[0] + d[1] * d[1]) * per_dt_ +
                         0.2 * std::sqrt(r0_.w[0] * r0_.w[0] + r0_.w[1] * r0_.w[1])) /
                        steps_.w;
    const double yaw = (0.7 * std::abs(d[2]) * per_dt_ + 0.2 * std::abs(r0_.w[2])) / steps_.w;
    double N = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const double deviation = estimate.deviation();
      const double expected = i == 0   ? yaw + 0.2 * tilt
                              : i == 1 ? 0.7 * tilt + 0.15 * deviation * (yaw + N)
                                       : 0.7 * tilt * std::min(1.0, 2.0 * deviation) + 0.3 * deviation * N;
      m_.w[axes[i]] = number(12 + i, expected, rounded(plain[i] + estimate.m[i]), kRate);
      N += (i == 0 ? 1.0 : 0.5) * estimate.meet(static_cast<double>(m_.w[axes[i]]) - plain[i]);
    }
  }

  Bits& bits_;
  const Motion& base_;
  const Numbers& n_;
  double dt_;
  Real r0_;
  Real f_;
  Motion m_;
  Steps steps_{};
  double per_dt_ = 0;
  double stray_ = 0;
  double turn_ = 0;
  Vector dp_{}, dv_{}, da_{};
};

}  // namespace

Motion read_residual(Bits& bits, const Motion& baseline, double dt, const Numbers& numbers) {
  return Residual{bits, baseline, dt, numbers}.read();
}

}  // namespace second
