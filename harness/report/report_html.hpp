// SPDX-License-Identifier: MIT
#pragma once

#include "harness/replay/compare.hpp"

#include <string>
#include <vector>

namespace reckoner::harness {

/// A picture of the report: an SVG with a heading above it and a caption below.
struct ReportFigure {
  std::string heading;
  std::string svg;
  std::string caption;
};

/// The whole page as HTML.
[[nodiscard]] std::string report_html(const std::vector<CompareRun>& runs, bool buffered,
                                      const std::vector<ReportFigure>& figures);

}  // namespace reckoner::harness
