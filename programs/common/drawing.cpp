// SPDX-License-Identifier: MIT
#include "programs/common/drawing.hpp"

namespace reckoner::program {

std::span<const ShownEntity> draw(Client& client, double local_s, double frame_s,
                                  scenario::PoseCsvWriter* rendered, Drawn& drawn) {
  const auto shown = client.shown();
  const auto server_time_s = client.server_time_s();
  ++drawn.frames;
  drawn.entity_seconds += static_cast<double>(shown.size()) * frame_s;
  if (rendered == nullptr || !server_time_s) return shown;
  for (const ShownEntity& entity : shown) {
    rendered->write({*server_time_s, entity.info->name, entity.shown.pose(), entity.shown_time_s, local_s});
  }
  return shown;
}

}  // namespace reckoner::program
