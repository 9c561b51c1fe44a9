// SPDX-License-Identifier: MIT
// Routes: any definition is either refused or usable by an entity.
#include "generate.hpp"
#include "net/src/codec/route_codec.hpp"
#include "target.hpp"

#include <cmath>
#include <variant>
#include <vector>

namespace reckoner::fuzz {
namespace {

void travel(const Route& route, RouteTable& routes, Choices& choices) {
  check(std::isfinite(route.period()) && route.period() > 0.0, "a route has a length");
  const Quantisation q = quantisations()[0];
  for (int i = 0; i < 8; ++i) {
    QuantisedState s;
    s.along = {{1},
               static_cast<std::int32_t>(choices.up_to(INT32_MAX)),
               static_cast<std::int32_t>(choices.integer(20)),
               static_cast<std::int32_t>(choices.integer(12))};
    if (choices.flag()) {
      const double steps = route.period() / q.route_distance_step_m * choices.real(0.0, 1.0);
      s.along.distance = static_cast<std::int32_t>(std::min(steps, 2e9));
    }
    const auto motion = motion_of(s, 0.0, q, routes);
    if (!motion) continue;
    for (const double time_s : {0.0, 0.1, 10.0, 1e6}) {
      const State state = state_at(*motion, time_s);
      check(std::isfinite(state.position.x) && std::isfinite(state.position.y) &&
                std::isfinite(state.position.z),
            "a place on a route is a place");
    }
    (void)route.nearest(motion->state.position, motion->along.distance, 10.0);
  }
}

// Tens of thousands of points take a tenth of a second to measure, and ten times that with sanitizers. They
// find no more faults than fewer points.
constexpr int kMaxPasses = 8;

void make(const RouteDefinition& definition, Choices& choices) {
  const auto* const chaikin = std::get_if<ChaikinRoute>(&definition.curve);
  if (chaikin != nullptr && chaikin->passes > kMaxPasses) return;
  RouteTable routes;
  const auto id = routes.add(definition);
  if (id) travel(*routes.find(*id), routes, choices);
}

}  // namespace

void run(std::span<const std::byte> input) {
  if (input.empty()) return;
  Choices choices{input.subspan(1)};
  if (input.front() == kRaw) {
    const auto message = decode_reliable(choices.rest());
    if (message && std::holds_alternative<RouteMessage>(*message))
      make(std::get<RouteMessage>(*message).definition, choices);
    return;
  }
  make(any_route(choices), choices);
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> out;
  std::vector<glm::dvec3> points;
  std::vector<TcbKey<glm::dvec3>> keys;
  for (int i = 0; i < 5; ++i) {
    points.emplace_back(10.0 * i, i % 2 * 7.0, i == 3 ? 2.0 : 0.0);
    keys.push_back({1.0 * i, points.back(), {}, 0.1, 0.2});
  }
  const RouteCurve curves[] = {CatmullRomRoute{points}, TcbRoute{keys}, ChaikinRoute{points},
                               PolylineRoute{points}};
  for (const RouteCurve& curve : curves) {
    for (const RouteWrap wrap : {RouteWrap::open, RouteWrap::closed, RouteWrap::ping_pong}) {
      const RouteFacing facing = wrap == RouteWrap::open ? RouteFacing::minimal : RouteFacing::upright;
      out.push_back(marked(kRaw, encoded(RouteMessage{{1}, {curve, wrap, facing}})));
    }
  }
  add_choices(out, 8, 300, kChoices);
  return out;
}

}  // namespace reckoner::fuzz
