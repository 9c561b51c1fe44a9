// SPDX-License-Identifier: MIT
#pragma once

#include "harness/explain/explain.hpp"
#include "harness/explain/explain_corrections.hpp"
#include "harness/explain/session_facts.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::playground {

/// A recorded session, played back for the page: its pictures at an even rate, and why its entities jumped.
struct SessionView {
  static constexpr double kPictureRateHz = 60.0;
  /// Numbers of a picture in `clock`.
  static constexpr std::size_t kClockNumbers = 2;

  std::vector<std::string> names;  ///< of the entities, in order of first appearance
  std::vector<EntityId> ids;
  std::size_t pictures = 0;
  bool cut = false;  ///< the session is longer than its pictures, because the memory of a page is limited
  /// Pictures x entities x 7 (kPoseFloats): position from the origin and orientation. NaN: not shown.
  std::vector<float> shown;
  std::vector<float> motion;  ///< the motion behind the shown state, without the blend
  std::vector<float> blend;   ///< pictures x entities: distance of the two, m; NaN: not shown
  /// Pictures x 2: the client's estimate of server time minus local time, from its first value, s; and the
  /// delay of the shown time, s.
  std::vector<float> clock;
  glm::dvec3 origin{0.0};
  harness::SessionFacts facts;
  std::vector<harness::ExplainedStep> steps;
  std::vector<harness::ExplainedCorrection> corrections;  ///< of predicted entities, in order of time
};

/// Plays back a recording of reckoner-client --record and explains it. `decisions`: the text of
/// reckoner-server --decisions, or nothing. Errors are those of the harness.
[[nodiscard]] Result<SessionView> view_session(std::vector<std::byte> recording, const std::string& name,
                                               std::string_view decisions, const std::string& decisions_name,
                                               std::size_t worst);

/// Everything but the poses, as JSON: the shape of the pictures, the steps (explain_json()), and for each
/// entity its motions; the datagrams, and those that are missing. Times are in s since the first call.
[[nodiscard]] std::string session_json(const SessionView& view);

}  // namespace reckoner::playground
