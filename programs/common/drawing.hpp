// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/trace/pose_csv.hpp"

#include <cstdint>
#include <span>

#include <reckoner/client/client.hpp>

namespace reckoner::program {

/// Counts what a client without a screen has drawn.
struct Drawn {
  std::uint64_t frames = 0;
  double entity_seconds = 0.0;
};

/// Draws one frame that lasts `frame_s`, and appends its poses to `rendered` if that is not null. Returns the
/// shown entities, which are valid as long as the result of Client::frame().
std::span<const ShownEntity> draw(Client& client, double local_s, double frame_s,
                                  scenario::PoseCsvWriter* rendered, Drawn& drawn);

}  // namespace reckoner::program
