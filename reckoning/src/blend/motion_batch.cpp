// SPDX-License-Identifier: MIT
#include "reckoning/src/blend/motion_batch.hpp"

#include "reckoning/src/blend/vector_clones.hpp"
#include "reckoning/src/motion/rotation.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include <glm/geometric.hpp>

namespace reckoner {
namespace {

constexpr std::size_t kBlock = 256;  // entries per block; a block fits into the L1 cache

// turn_of() is accurate if the squared length of the half rotation vector is at most this, which means
// rotations of up to 4 rad.
constexpr float kFarHalf2 = 4.0f;

struct Turn {
  float w, x, y, z;
};

// The unit quaternion (cos h, h sin(h)/h) for half a rotation vector h. It is computed without branches,
// roots or divisions. It evaluates series of 1 - cos and of sin(h)/h at a quarter of the angle, and then
// doubles the angle twice. Using 1 - cos keeps the relative error small, about 2e-7 up to |h| = 2.
inline Turn turn_of(float hx, float hy, float hz) {
  const float y = (hx * hx + hy * hy + hz * hz) * (1.0f / 16.0f);
  float sine = 1.0f - y * (1.0f / 6.0f - y * (1.0f / 120.0f - y * (1.0f / 5040.0f)));
  float versine = y * (0.5f - y * (1.0f / 24.0f - y * (1.0f / 720.0f - y * (1.0f / 40320.0f))));
  sine *= 1.0f - versine;
  versine *= 4.0f - 2.0f * versine;
  sine *= 1.0f - versine;
  versine *= 4.0f - 2.0f * versine;
  return {1.0f - versine, hx * sine, hy * sine, hz * sine};
}

// 1 / sqrt(n) for n within a few percent of 1, such as the squared length of a unit quaternion: two Newton
// steps from 1.
inline float inverse_root(float n) {
  const float first = 1.5f - 0.5f * n;
  return first * (1.5f - 0.5f * n * first * first);
}

glm::quat turned(const Turn& t, const glm::quat& q) {
  const float w = t.w * q.w - t.x * q.x - t.y * q.y - t.z * q.z;
  const float x = t.w * q.x + t.x * q.w + t.y * q.z - t.z * q.y;
  const float y = t.w * q.y - t.x * q.z + t.y * q.w + t.z * q.x;
  const float z = t.w * q.z + t.x * q.y - t.y * q.x + t.z * q.w;
  const float k = inverse_root(w * w + x * x + y * y + z * z);
  return {w * k, x * k, y * k, z * k};
}

}  // namespace

void MotionBatch::push_back(const Motion& motion, const Blend& blend) {
  assert(size() < kNoBlend);
  time_s_.emplace_back();
  for (auto& axis : position_)
    axis.emplace_back();
  for (auto* arrays : {&velocity_, &acceleration_, &angular_velocity_}) {
    for (auto& axis : *arrays)
      axis.emplace_back();
  }
  for (auto& part : orientation_)
    part.emplace_back();
  blend_of_.push_back(kNoBlend);
  set(size() - 1, motion, blend);
}

void MotionBatch::set(std::size_t index, const Motion& motion, const Blend& blend) {
  assert(index < size() && motion.route == nullptr);
  const State& state = motion.state;
  time_s_[index] = motion.time_s;
  for (int axis = 0; axis < 3; ++axis) {
    position_[axis][index] = state.position[axis];
    velocity_[axis][index] = state.velocity[axis];
    acceleration_[axis][index] =
        motion.transition.bends ? 0.0f : state.acceleration[axis];  // like state_at()
    angular_velocity_[axis][index] = state.angular_velocity[axis];
  }
  orientation_[0][index] = state.orientation.w;
  orientation_[1][index] = state.orientation.x;
  orientation_[2][index] = state.orientation.y;
  orientation_[3][index] = state.orientation.z;
  set_blend(index, blend);
}

void MotionBatch::set_blend(std::size_t index, const Blend& blend) {
  if (blend.duration_s() <= 0.0) {
    remove_blend(index);
  } else if (blend_of_[index] != kNoBlend) {
    blends_[blend_of_[index]].blend = blend;
  } else {
    blend_of_[index] = static_cast<std::uint32_t>(blends_.size());
    blends_.push_back({static_cast<std::uint32_t>(index), blend});
  }
}

void MotionBatch::remove_blend(std::size_t index) {
  const std::uint32_t at = blend_of_[index];
  if (at == kNoBlend) return;
  blends_[at] = blends_.back();
  blend_of_[blends_[at].index] = at;
  blends_.pop_back();
  blend_of_[index] = kNoBlend;
}

void MotionBatch::swap_remove(std::size_t index) {
  assert(index < size());
  remove_blend(index);
  const auto fill = [index](auto& array) {
    array[index] = array.back();
    array.pop_back();
  };
  fill(time_s_);
  fill(blend_of_);
  for (auto& axis : position_)
    fill(axis);
  for (auto* arrays : {&velocity_, &acceleration_, &angular_velocity_}) {
    for (auto& axis : *arrays)
      fill(axis);
  }
  for (auto& part : orientation_)
    fill(part);
  if (index < size() && blend_of_[index] != kNoBlend) {
    blends_[blend_of_[index]].index = static_cast<std::uint32_t>(index);
  }
}

void MotionBatch::clear() {
  *this = {};
}

void MotionBatch::drop_blends(double time_s) {
  for (std::size_t i = blends_.size(); i-- > 0;) {
    if (blends_[i].blend.over(time_s)) remove_blend(blends_[i].index);
  }
}

RECKONER_VECTOR_CLONES void MotionBatch::sample_positions(std::size_t begin, std::size_t count, double time_s,
                                                          glm::dvec3* positions) const {
  const double* const since = time_s_.data() + begin;
  const double *const px = position_[0].data() + begin, *const py = position_[1].data() + begin,
                      *const pz = position_[2].data() + begin;
  const float *const vx = velocity_[0].data() + begin, *const vy = velocity_[1].data() + begin,
                     *const vz = velocity_[2].data() + begin;
  const float *const ax = acceleration_[0].data() + begin, *const ay = acceleration_[1].data() + begin,
                     *const az = acceleration_[2].data() + begin;
  double* __restrict const out = &positions->x;
  for (std::size_t i = 0; i < count; ++i) {
    const double dt_s = time_s - since[i];
    const double half_s = 0.5 * dt_s;
    out[3 * i] = px[i] + (static_cast<double>(vx[i]) + static_cast<double>(ax[i]) * half_s) * dt_s;
    out[3 * i + 1] = py[i] + (static_cast<double>(vy[i]) + static_cast<double>(ay[i]) * half_s) * dt_s;
    out[3 * i + 2] = pz[i] + (static_cast<double>(vz[i]) + static_cast<double>(az[i]) * half_s) * dt_s;
  }
}

RECKONER_VECTOR_CLONES void MotionBatch::sample_orientations(std::size_t begin, std::size_t count,
                                                             double time_s, glm::quat* orientations) const {
  const double* const since = time_s_.data() + begin;
  const float* const wx = angular_velocity_[0].data() + begin;
  const float* const wy = angular_velocity_[1].data() + begin;
  const float* const wz = angular_velocity_[2].data() + begin;
  const float* const qw = orientation_[0].data() + begin;
  const float* const qx = orientation_[1].data() + begin;
  const float* const qy = orientation_[2].data() + begin;
  const float* const qz = orientation_[3].data() + begin;
  float half_dt[kBlock];
  for (std::size_t i = 0; i < count; ++i)
    half_dt[i] = static_cast<float>(0.5 * (time_s - since[i]));
  glm::quat* __restrict const out = orientations;
  int far = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const float hx = wx[i] * half_dt[i], hy = wy[i] * half_dt[i], hz = wz[i] * half_dt[i];
    const Turn t = turn_of(hx, hy, hz);
    const float rw = t.w * qw[i] - t.x * qx[i] - t.y * qy[i] - t.z * qz[i];
    const float rx = t.w * qx[i] + t.x * qw[i] + t.y * qz[i] - t.z * qy[i];
    const float ry = t.w * qy[i] - t.x * qz[i] + t.y * qw[i] + t.z * qx[i];
    const float rz = t.w * qz[i] + t.x * qy[i] - t.y * qx[i] + t.z * qw[i];
    const float k = inverse_root(rw * rw + rx * rx + ry * ry + rz * rz);
    out[i] = {rw * k, rx * k, ry * k, rz * k};
    far += hx * hx + hy * hy + hz * hz > kFarHalf2 ? 1 : 0;
  }
  if (far == 0) return;
  // Entities that spin fast or have not been updated for long are computed one by one.
  for (std::size_t i = 0; i < count; ++i) {
    const glm::dvec3 rotation = (time_s - since[i]) * glm::dvec3{wx[i], wy[i], wz[i]};
    if (glm::dot(rotation, rotation) <= 3.9 * static_cast<double>(kFarHalf2)) continue;
    const glm::dquat from{qw[i], qx[i], qy[i], qz[i]};
    orientations[i] = glm::quat{glm::normalize(rotation_exp(rotation) * from)};
  }
}

void MotionBatch::sample(double time_s, std::span<glm::dvec3> positions) const {
  assert(positions.size() >= size());
  for (std::size_t begin = 0; begin < size(); begin += kBlock) {
    sample_positions(begin, std::min(kBlock, size() - begin), time_s, positions.data() + begin);
  }
  for (const Entry& entry : blends_) {
    if (!entry.blend.over(time_s)) positions[entry.index] += entry.blend.offset(time_s).position;
  }
}

void MotionBatch::sample(double time_s, std::span<glm::dvec3> positions,
                         std::span<glm::quat> orientations) const {
  assert(positions.size() >= size() && orientations.size() >= size());
  for (std::size_t begin = 0; begin < size(); begin += kBlock) {
    const std::size_t count = std::min(kBlock, size() - begin);
    sample_positions(begin, count, time_s, positions.data() + begin);
    sample_orientations(begin, count, time_s, orientations.data() + begin);
  }
  for (const Entry& entry : blends_) {
    if (entry.blend.over(time_s)) continue;
    const Blend::Offset offset = entry.blend.offset(time_s);
    positions[entry.index] += offset.position;
    const glm::vec3 half{0.5 * offset.rotation};
    glm::quat& orientation = orientations[entry.index];
    if (glm::dot(half, half) <= kFarHalf2) {
      orientation = turned(turn_of(half.x, half.y, half.z), orientation);
    } else {
      orientation = glm::quat{glm::normalize(rotation_exp(offset.rotation) * glm::dquat{orientation})};
    }
  }
}

}  // namespace reckoner
