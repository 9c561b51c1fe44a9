// SPDX-License-Identifier: MIT
#include "harness/report/gnuplot.hpp"

#include "harness/process/child_process.hpp"
#include "harness/process/scratch_folder.hpp"
#include "scenario/trace/utf8_path.hpp"

#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>

namespace reckoner::harness {

Result<std::string> draw_svg(const std::function<std::string(const std::string&)>& script_for) {
  const ScratchFolder scratch;
  if (scratch.path().empty()) return Error{"cannot make a temporary folder"};
  const std::filesystem::path drawn = scratch.path() / "plot.svg";
  const std::filesystem::path script = scratch.path() / "plot.gp";
  std::ofstream(script) << script_for(utf8_of(drawn));
  auto gnuplot = ChildProcess::start("gnuplot", {utf8_of(script)}, scratch.path() / "gnuplot.log");
  if (!gnuplot) return Error{gnuplot.error() + " (gnuplot draws the plots; Debian package: gnuplot-nox)"};
  for (int i = 0; i < 3000 && !gnuplot->exit_code(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (gnuplot->exit_code() != 0) return Error{"gnuplot failed: " + gnuplot->output()};
  std::ifstream file(drawn);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace reckoner::harness
