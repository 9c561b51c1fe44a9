// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include <reckoner/reckoning/result.hpp>

namespace CLI {
class App;
}

namespace reckoner::harness {

/// Where `model` (quadratic, or a DIS model by its letters) takes the state in `state_text` in `dt_s`
/// seconds. Both are JSON,
/// {"position":[],"velocity":[],"acceleration":[],"orientation":[w,x,y,z],"angular_velocity":[]}, SI; what is
/// left out but the position is zero, the orientation no rotation. For the DIS models angular velocity is
/// about body axes, and for the ...b models velocity and acceleration are in body axes, on the way in and
/// out. quadratic is the library's own predictor: world axes, and single precision but for the position.
[[nodiscard]] Result<std::string> predict_json(std::string_view model, double dt_s,
                                               const std::string& state_text);

void add_predict_command(CLI::App& app, int& exit_code);

}  // namespace reckoner::harness
