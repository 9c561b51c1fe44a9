// SPDX-License-Identifier: MIT
// The main function of Google Benchmark, which also prints the ratio of each benchmark to its floor. The
// floor of BM_Thing is BM_ThingFloor, the least work that any program must do for the same result. The floor
// of BM_ThingLibrary is BM_ThingByHand. A benchmark without either is listed with "no floor", because nothing
// simpler gives its result.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>

namespace {

class RatioReporter final : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || run.error_occurred || run.iterations == 0) continue;
      const double ns = 1e9 * run.cpu_accumulated_time / static_cast<double>(run.iterations);
      const std::string name = run.run_name.str();
      const auto [place, added] = least_ns_.emplace(name, ns);
      if (added) {
        order_.push_back(name);
      } else {
        // The fastest repetition counts; disturbances only make a run slower.
        place->second = std::min(place->second, ns);
      }
    }
  }

  void Finalize() override {
    ConsoleReporter::Finalize();
    std::printf("\n%-44s%16s%16s%10s\n", "processor time (ns)", "time", "floor", "ratio");
    for (const std::string& name : order_) {
      if (is_floor(name)) continue;
      const double ns = least_ns_.at(name);
      const auto floor = least_ns_.find(floor_of(name));
      if (floor == least_ns_.end()) {
        std::printf("%-44s%16.1f%16s%10s\n", name.c_str(), ns, "no floor", "-");
        continue;
      }
      std::printf("%-44s%16.1f%16.1f%10.2f\n", name.c_str(), ns, floor->second, ns / floor->second);
    }
  }

 private:
  static bool is_floor(const std::string& name) {
    const std::string thing = name.substr(0, name.find('/'));
    return thing.ends_with("Floor") || thing.ends_with("ByHand");
  }

  // The name of the floor: BM_ThingFloor/ARGUMENTS for BM_Thing/ARGUMENTS.
  static std::string floor_of(const std::string& name) {
    const std::size_t end = std::min(name.find('/'), name.size());
    constexpr std::string_view kLibrary = "Library";
    std::string thing = name.substr(0, end);
    if (thing.ends_with(kLibrary)) {
      thing.replace(thing.size() - kLibrary.size(), kLibrary.size(), "ByHand");
    } else {
      thing += "Floor";
    }
    return thing + name.substr(end);
  }

  std::map<std::string, double> least_ns_;
  std::vector<std::string> order_;
};

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::Shutdown();
}
