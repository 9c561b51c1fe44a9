// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include <reckoner/reckoning/result.hpp>

namespace CLI {
class App;
}

namespace reckoner::harness {

/// The state `dt_s` seconds after the state in `state_text`, by the model `model`: "quadratic" or the letters
/// of a DIS model. Fails if the model is unknown or the state is malformed. Input and output are JSON in SI
/// units: {"position":[],"velocity":[],"acceleration":[],"orientation":[w,x,y,z],"angular_velocity":[]}. In
/// the input, only the position is required. Other vectors are zero by default, and the orientation is the
/// identity.
///
/// For DIS models, the angular velocity is about body axes. For the ...b models, velocity and acceleration
/// are in body axes, too, in input and output. "quadratic" is the library's own predictor. It uses world
/// axes, and single precision for everything but the position.
[[nodiscard]] Result<std::string> predict_json(std::string_view model, double dt_s,
                                               const std::string& state_text);

void add_predict_command(CLI::App& app, int& exit_code);

}  // namespace reckoner::harness
