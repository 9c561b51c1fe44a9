// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/trace/pose_csv.hpp"

#include <cstdint>
#include <span>

#include <reckoner/client/client.hpp>

namespace reckoner::program {

/// What a client without a screen has drawn.
struct Drawn {
  std::uint64_t frames = 0;
  double entity_seconds = 0.0;
};

/// Draws one frame, which lasts `frame_s`: into the file, if there is one. What was shown; valid as
/// Client::frame()'s.
std::span<const ShownEntity> draw(Client& client, double local_s, double frame_s,
                                  scenario::PoseCsvWriter* rendered, Drawn& drawn);

}  // namespace reckoner::program
