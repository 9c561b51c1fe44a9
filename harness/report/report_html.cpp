// SPDX-License-Identifier: MIT
#include "harness/report/report_html.hpp"

#include "harness/methods/baseline.hpp"
#include "harness/report/compare_output.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace reckoner::harness {
namespace {

constexpr const char* kHead =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
    "content=\"width=device-width,initial-scale=1\"><title>Reckoner, measured</title>\n"
    "<style>body{font:16px/1.5 Helvetica,Arial,sans-serif;color:#1f2933;max-width:1080px;margin:2em "
    "auto;padding:0 1em}"
    "svg{max-width:100%;height:auto}table{border-collapse:collapse;font-size:13px;display:block;"
    "overflow-x:auto}td,th{padding:3px 9px;text-align:right;border-bottom:1px solid #e4e7eb}"
    "td:first-child,th:first-child{text-align:left}.best{font-weight:bold;color:#2680c2}"
    "p.caption{color:#52606d}</style></head><body>\n<h1>Reckoner, measured</h1>\n"
    "<p>In a game over the internet, each player's computer receives updates of the others only a few times "
    "per second. They are late, and some get lost. The computer must draw the others sixty times per second, "
    "so it must estimate where they are. This page replays motion over a simulated bad network. It measures "
    "the distance between the drawn and the true positions, for Reckoner and for the usual techniques. All "
    "have the same budget of updates. Every error is in metres; smaller is better.</p>\n";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

std::string row_of(const std::string& label, const std::vector<std::string>& cells, const char* tag,
                   std::size_t best = static_cast<std::size_t>(-1)) {
  std::string row = fmt::format("<tr><{0}>{1}</{0}>", tag, escaped(label));
  for (std::size_t i = 0; i < cells.size(); ++i)
    row += fmt::format("<{}{}>{}</{}>", tag, i == best ? " class=\"best\"" : "", escaped(cells[i]), tag);
  return row + "</tr>\n";
}

std::string error_table(const std::vector<CompareRun>& runs, const std::string& network,
                        const ComparedFigure& figure) {
  const auto methods = distinct(runs, &CompareRun::method);
  std::string table = "<table>\n" + row_of("", methods, "th");
  for (const std::string& trace : distinct(runs, &CompareRun::trace)) {
    std::vector<std::string> cells;
    std::size_t best = static_cast<std::size_t>(-1);
    double least = 1e300;
    for (const std::string& method : methods) {
      const auto value = seed_mean(runs, trace, network, method, figure);
      cells.push_back(value ? fmt::format("{:.4g}", *value) : "-");
      if (value && *value < least) {
        least = *value;
        best = cells.size() - 1;
      }
    }
    table += row_of(trace, cells, "td", best);
  }
  return table + "</table>\n";
}

// Explains the names of the methods in the tables.
std::string glossary(const std::vector<CompareRun>& runs) {
  std::string list = "<h2>The techniques</h2>\n<dl>\n";
  for (const std::string& method : distinct(runs, &CompareRun::method)) {
    std::string_view summary =
        "sends fitted motions when the prediction would exceed a threshold; blends or interpolates them";
    const auto kinds = baseline_kinds();
    const auto kind = std::ranges::find(kinds, method, &BaselineKind::name);
    if (kind != kinds.end()) {
      summary = kind->summary;
    } else if (method != "reckoner") {
      continue;  // an ablation: the name says which part is switched off
    }
    list += fmt::format("<dt><b>{}</b></dt><dd>{}</dd>\n", escaped(method), escaped(std::string(summary)));
  }
  return list + "</dl>\n";
}

// "0.0312 m", and for the methods beside Reckoner "0.0601 m, x 0.52".
std::string cell_of(const std::optional<double>& value, const char* unit,
                    const std::optional<double>& ratio) {
  if (!value) return "-";
  return fmt::format("{:.3g} {}", *value, unit) + (ratio ? fmt::format(", \u00d7 {:.2f}", *ratio) : "");
}

std::string ratio_table(const std::vector<CompareRun>& runs, const std::vector<MethodRatios>& all,
                        const std::string& network, bool buffered) {
  const std::vector<ComparedFigure> figures = compared_figures(buffered);
  std::vector<std::string> headings;
  headings.reserve(figures.size());
  for (const ComparedFigure& figure : figures)
    headings.emplace_back(figure.words);
  std::string table = "<table>\n" + row_of("", headings, "th");
  for (const std::string& method : distinct(runs, &CompareRun::method)) {
    std::vector<std::string> cells;
    for (const ComparedFigure& figure : figures) {
      std::optional<double> ratio;
      for (const MethodRatios& one : all) {
        if (one.network != network || one.method != method) continue;
        for (const MethodRatios::Mean& mean : one.means) {
          if (mean.figure == figure.name) ratio = mean.ratio;
        }
      }
      cells.push_back(cell_of(trace_mean(runs, network, method, figure), figure.unit, ratio));
    }
    table += row_of(method, cells, "td");
  }
  return table + "</table>\n";
}

// Says which methods have no figures, and why.
std::string unshown_list(const std::vector<CompareRun>& runs, const std::string& network) {
  std::string list;
  for (const CompareRun& run : runs) {
    if (run.network == network && !run.unshown.empty())
      list += fmt::format("<p>No figures of {}, {}: {}</p>\n", escaped(run.method), escaped(run.trace),
                          escaped(run.unshown));
  }
  return list;
}

}  // namespace

std::string report_html(const std::vector<CompareRun>& runs, bool buffered,
                        const std::vector<ReportFigure>& figures) {
  std::string page = kHead;
  const auto ratios = ratios_of(runs, buffered);
  const auto compared = compared_figures(buffered);
  for (const std::string& network : distinct(runs, &CompareRun::network)) {
    page += fmt::format("<h2>Network: {}</h2>\n", escaped(network));
    page += fmt::format(
        "<p>Each figure is the geometric mean over the traces; errors are those that 95 % of the pictures "
        "stay "
        "below. \u00d7 is Reckoner's figure divided by the method's, at least {} for each trace: below 1, "
        "Reckoner is better.</p>\n",
        kMinRatio);
    page += ratio_table(runs, ratios, network, buffered);
    page += unshown_list(runs, network);
    page += "<p>The error that 95 % of the pictures stay below, m:</p>\n" +
            error_table(runs, network, compared[0]);
    page += "<p>How much what is drawn shakes beyond the real motion, m/s&sup2;:</p>\n" +
            error_table(runs, network, compared[2]);
    if (buffered)
      page += "<p>How far what is drawn is turned from the truth, 95 % of the frames, rad:</p>\n" +
              error_table(runs, network, compared[4]);
  }
  page += glossary(runs);
  for (const ReportFigure& figure : figures) {
    page += fmt::format("<h2>{}</h2>\n{}\n<p class=\"caption\">{}</p>\n", escaped(figure.heading), figure.svg,
                        escaped(figure.caption));
  }
  return page + "</body></html>\n";
}

}  // namespace reckoner::harness
