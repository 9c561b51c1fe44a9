// SPDX-License-Identifier: MIT
// Measures each curve operation, and a plain hand-written loop over the same numbers. The library may take at
// most 1.2 times as long as the loop.
#include "reckoning/src/prediction/dis_models.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <benchmark/benchmark.h>

#include <reckoner/reckoning/curves.hpp>
#include <reckoner/reckoning/route.hpp>

namespace reckoner {
namespace {

using glm::dvec3;

constexpr std::size_t kPoints = 64;
constexpr std::size_t kQueries = 4096;

std::vector<dvec3> winding_points() {
  std::vector<dvec3> points;
  for (std::size_t i = 0; i < kPoints; ++i) {
    const auto k = static_cast<double>(i);
    points.emplace_back(5.0 * k, 12.0 * std::sin(1.3 * k), 3.0 * std::cos(0.7 * k));
  }
  return points;
}

CatmullRom<dvec3> winding_curve() {
  return *CatmullRom<dvec3>::make(winding_points());
}

// Parameters from 0 to `end` in random order, so that neither the library nor the hand-written loop benefits
// from the previous parameter.
std::vector<double> places(double end) {
  std::vector<double> out;
  double x = 0.5;
  for (std::size_t i = 0; i < kQueries; ++i) {
    x = std::fmod(x + 0.61803398874989484820, 1.0);
    out.push_back(x * end);
  }
  return out;
}

void BM_CatmullRomLibrary(benchmark::State& run) {
  const auto curve = winding_curve();
  const auto at = places(static_cast<double>(kPoints - 1));
  for ([[maybe_unused]] auto _ : run) {
    dvec3 sum(0.0);
    for (const double t : at) {
      const CurvePoint<dvec3> p = curve.evaluate(t);
      sum += p.position + p.derivative;
    }
    benchmark::DoNotOptimize(sum);
  }
  run.SetItemsProcessed(run.iterations() * static_cast<std::int64_t>(kQueries));
}
BENCHMARK(BM_CatmullRomLibrary);

// Hand-written version, also with precomputed coefficients.
void BM_CatmullRomByHand(benchmark::State& run) {
  struct Cubic {
    dvec3 a, b, c, d;
  };
  const auto p = winding_points();
  std::vector<Cubic> cubics;
  for (std::size_t i = 0; i + 1 < kPoints; ++i) {
    const dvec3 p0 = p[i > 0 ? i - 1 : 0], p1 = p[i], p2 = p[i + 1], p3 = p[std::min(i + 2, kPoints - 1)];
    cubics.push_back({0.5 * (-p0 + 3.0 * p1 - 3.0 * p2 + p3), 0.5 * (2.0 * p0 - 5.0 * p1 + 4.0 * p2 - p3),
                      0.5 * (p2 - p0), p1});
  }
  const auto at = places(static_cast<double>(kPoints - 1));
  for ([[maybe_unused]] auto _ : run) {
    dvec3 sum(0.0);
    for (const double t : at) {
      const int segment = std::min(static_cast<int>(t), static_cast<int>(kPoints) - 2);
      const Cubic& c = cubics[static_cast<std::size_t>(segment)];
      const double u = t - segment;
      const dvec3 position = ((c.a * u + c.b) * u + c.c) * u + c.d;
      const dvec3 derivative = (3.0 * c.a * u + 2.0 * c.b) * u + c.c;
      sum += position + derivative;
    }
    benchmark::DoNotOptimize(sum);
  }
  run.SetItemsProcessed(run.iterations() * static_cast<std::int64_t>(kQueries));
}
BENCHMARK(BM_CatmullRomByHand);

void BM_DistanceToParameterLibrary(benchmark::State& run) {
  const auto curve = winding_curve();
  const auto arc = *ArcLengthTable::make(curve.path());
  const auto at = places(arc.length());
  for ([[maybe_unused]] auto _ : run) {
    double sum = 0.0;
    for (const double d : at)
      sum += arc.parameter_at(d);
    benchmark::DoNotOptimize(sum);
  }
  run.SetItemsProcessed(run.iterations() * static_cast<std::int64_t>(kQueries));
  run.counters["parts"] = static_cast<double>(arc.part_count());
}
BENCHMARK(BM_DistanceToParameterLibrary);

// Hand-written version: binary search and linear interpolation, with the same number of points on the same
// curve.
void BM_DistanceToParameterByHand(benchmark::State& run) {
  const auto curve = winding_curve();
  const auto arc = *ArcLengthTable::make(curve.path());
  const std::size_t parts = arc.part_count();
  std::vector<double> distances, parameters;
  for (std::size_t i = 0; i <= parts; ++i) {
    parameters.push_back(curve.path().end_parameter() * static_cast<double>(i) / static_cast<double>(parts));
    distances.push_back(arc.distance_at(parameters.back()));
  }
  const auto at = places(arc.length());
  for ([[maybe_unused]] auto _ : run) {
    double sum = 0.0;
    for (const double d : at) {
      std::size_t low = 0, high = parts;
      while (high - low > 1) {
        const std::size_t middle = (low + high) / 2;
        if (distances[middle] <= d) {
          low = middle;
        } else {
          high = middle;
        }
      }
      const double share = (d - distances[low]) / (distances[low + 1] - distances[low]);
      sum += parameters[low] + share * (parameters[low + 1] - parameters[low]);
    }
    benchmark::DoNotOptimize(sum);
  }
  run.SetItemsProcessed(run.iterations() * static_cast<std::int64_t>(kQueries));
}
BENCHMARK(BM_DistanceToParameterByHand);

void BM_NearestOnWholePath(benchmark::State& run) {
  const auto curve = winding_curve();
  const auto at = places(static_cast<double>(kPoints - 1));
  std::size_t i = 0;
  for ([[maybe_unused]] auto _ : run) {
    i = (i + 1) % kQueries;
    benchmark::DoNotOptimize(nearest(curve.path(), dvec3(curve.position(at[i]) + dvec3(0.0, 2.0, 1.0))));
  }
}
BENCHMARK(BM_NearestOnWholePath);

// A client's cost per picture for one entity on a route.
void BM_RouteState(benchmark::State& run) {
  RouteDefinition definition;
  definition.curve = CatmullRomRoute{winding_points()};
  definition.facing = static_cast<RouteFacing>(run.range(0));
  const Route route = *Route::make(definition);
  const auto at = places(route.length());
  std::size_t i = 0;
  for ([[maybe_unused]] auto _ : run) {
    i = (i + 1) % kQueries;
    benchmark::DoNotOptimize(route.state_at({at[i], 3.0, 0.1}, 0.1));
  }
}
BENCHMARK(BM_RouteState)->Arg(0)->Arg(1);

void BM_DeadReckonRvb(benchmark::State& run) {
  DisState state;
  state.velocity = {20, 1, 0};
  state.acceleration = {1, 0, 0.5};
  state.angular_velocity = {0.1, 0.2, 0.7};
  double dt_s = 0.0;
  for ([[maybe_unused]] auto _ : run) {
    dt_s += 1e-4;
    benchmark::DoNotOptimize(dead_reckon(DeadReckoningModel::kRvb, state, dt_s));
  }
}
BENCHMARK(BM_DeadReckonRvb);

}  // namespace
}  // namespace reckoner
