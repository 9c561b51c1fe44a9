// SPDX-License-Identifier: MIT
#include "harness/metrics/coverage.hpp"

#include <fmt/format.h>

namespace reckoner::harness {

std::optional<Error> find_unshown(const Figures& run, const std::string& reason) {
  const PictureCounts& frames = run.frames;
  const std::string because = reason.empty() ? std::string{} : ": " + reason;
  if (frames.expected == 0)
    return Error{"nothing was measured: no entity lives long enough after the first 2 s of the run" +
                 because};
  const double share = static_cast<double>(frames.shown) / static_cast<double>(frames.expected);
  if (share < kLeastShownShare) {
    return Error{fmt::format("the figures do not count: only {} of {} expected poses were shown ({:.1f} %)",
                             frames.shown, frames.expected, 100.0 * share) +
                 because};
  }
  if (frames.counted == 0) {
    return Error{
        "nothing was measured: all shown poses are in gaps of the recording, or shortly after the "
        "start of an entity or a teleport" +
        because};
  }
  return std::nullopt;
}

}  // namespace reckoner::harness
