// SPDX-License-Identifier: MIT
#pragma once

#include "programs/common/options/blend_options.hpp"

#include <array>

#include <CLI/CLI.hpp>

namespace reckoner::program {

/// Adds the options that choose how corrections are blended in. `choice` must outlive the parsing.
inline std::array<CLI::Option*, 2> add_blend_choice(CLI::App& app, BlendChoice& choice) {
  auto* const profile =
      app.add_option("--blend-profile", choice.profile,
                     "how corrections are blended in: article, balanced, accurate or gentle")
          ->check(CLI::IsMember(kBlendProfileNames))
          ->capture_default_str();
  auto* const curve =
      app.add_option("--blend-curve", choice.curve, "cubic or damped, instead of the profile's curve")
          ->check(CLI::IsMember(kBlendCurveNames));
  return {profile, curve};
}

}  // namespace reckoner::program
