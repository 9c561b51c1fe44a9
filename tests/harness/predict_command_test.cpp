// SPDX-License-Identifier: MIT
#include "harness/commands/motion/predict_command.hpp"

#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace reckoner::harness {
namespace {

using nlohmann::json;

// IEEE 1278.1's example: psi, theta, phi = 15, 20, 25 deg.
constexpr const char* kState =
    R"({"position":[-6378137,-5,-10],"velocity":[30,35,40],"acceleration":[-80,-85,-90],
  "orientation":[0.9576621969424749,0.18882160486905457,0.19602892136020287,0.08719229347577614],
  "angular_velocity":[1.0471975512,1.1344640138,1.2217304764]})";

json predicted(const char* model, double dt_s, const std::string& state) {
  const auto text = predict_json(model, dt_s, state);
  EXPECT_TRUE(text) << text.error();
  return text ? json::parse(*text) : json{};
}

TEST(PredictCommand, DisModelsMatchThePublishedValues) {
  const json fpw = predicted("fpw", 0.5, kState);
  EXPECT_NEAR(fpw["position"][0].get<double>(), -6378122.0, 0.01);
  EXPECT_NEAR(fpw["position"][1].get<double>(), 12.5, 0.01);
  const json rvw = predicted("rvw", 0.5, kState);
  EXPECT_NEAR(rvw["position"][0].get<double>(), -6378132.0, 0.01);
  EXPECT_NEAR(rvw["velocity"][0].get<double>(), -10.0, 1e-12);
  EXPECT_NE(rvw["orientation"], fpw["orientation"]);
  const json still = predicted("static", 100.0, kState);
  EXPECT_EQ(still["position"], json::parse("[-6378137.0,-5.0,-10.0]"));
  EXPECT_EQ(still["velocity"], json::parse("[30.0,35.0,40.0]"));
  for (const char* model : {"fpb", "rpb", "rvb", "fvb", "fvw", "rpw"})
    EXPECT_EQ(predicted(model, 0.5, kState).size(), 5u);
}

TEST(PredictCommand, QuadraticMatchesTheLibrary) {
  const json out =
      predicted("quadratic", 2.0, R"({"position":[1,2,3],"velocity":[0.1,0,-4],"acceleration":[0,1,0.5]})");
  EXPECT_NEAR(out["position"][0].get<double>(), 1.2, 1e-7);
  EXPECT_DOUBLE_EQ(out["position"][1].get<double>(), 4.0);
  EXPECT_DOUBLE_EQ(out["position"][2].get<double>(), -4.0);
  EXPECT_EQ(out["velocity"][0].get<double>(), 0.1);  // printed as short as single precision allows
  EXPECT_EQ(out["velocity"][1].get<double>(), 2.0);
  EXPECT_EQ(out["orientation"], json::parse("[1.0,0.0,0.0,0.0]"));
}

TEST(PredictCommand, ReadsItsOwnOutput) {
  const auto first = predict_json("rvb", 0.7, kState);
  ASSERT_TRUE(first);
  const json twice = predicted("rvb", 0.8, *first);
  const json once = predicted("rvb", 1.5, kState);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(twice["position"][i].get<double>(), once["position"][i].get<double>(), 1e-8);
  }
}

TEST(PredictCommand, ErrorsNameTheReason) {
  const auto error = [](const char* model, double dt_s, const char* state) {
    const auto out = predict_json(model, dt_s, state);
    EXPECT_FALSE(out) << state;
    return out ? std::string{} : out.error();
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(error("fpw", 1, "{").find("JSON"), std::string::npos);
  EXPECT_NE(error("fpw", 1, "[1,2]").find("JSON object"), std::string::npos);
  EXPECT_NE(error("fpw", 1, "{}").find("position"), std::string::npos);
  EXPECT_NE(error("fpw", 1, R"({"position":[1,2]})").find("position"), std::string::npos);
  EXPECT_NE(error("fpw", 1, R"({"position":[1,2,"3"]})").find("position"), std::string::npos);
  EXPECT_NE(error("fpw", 1, R"({"position":[1,2,1e999]})").size(), 0u);
  EXPECT_NE(error("fpw", 1, R"({"position":[1,2,3],"speed":[1,2,3]})").find("speed"), std::string::npos);
  EXPECT_NE(error("fpw", 1, R"({"position":[1,2,3],"orientation":[0,0,0,0]})").find("unit"),
            std::string::npos);
  EXPECT_NE(error("warp", 1, R"({"position":[1,2,3]})").find("warp"), std::string::npos);
  EXPECT_NE(error("fpw", nan, R"({"position":[1,2,3]})").find("--dt"), std::string::npos);
}

}  // namespace
}  // namespace reckoner::harness
