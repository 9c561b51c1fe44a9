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

/// Draws a picture, which stays for `frame_s`, at the time of the last Client::update(), `local_s`. If
/// `rendered` is not null, appends the poses to it. Returns the shown entities. The span is valid as long as
/// a result of Client::shown().
std::span<const ShownEntity> draw(Client& client, double local_s, double frame_s,
                                  scenario::PoseCsvWriter* rendered, Drawn& drawn);

}  // namespace reckoner::program
