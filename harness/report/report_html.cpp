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
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Reckoner, measured</title>\n"
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

std::string ratio_table(const std::vector<MethodRatios>& all, const std::string& network, bool buffered) {
  std::vector<std::string> names;
  for (const ComparedFigure& figure : compared_figures(buffered))
    names.emplace_back(figure.name);
  std::string table = "<table>\n" + row_of("Reckoner divided by", names, "th");
  for (const MethodRatios& one : all) {
    if (one.network != network) continue;
    std::vector<std::string> cells;
    for (const std::string& name : names) {
      std::string cell = "-";
      for (const MethodRatios::Mean& mean : one.means) {
        if (mean.figure == name) cell = fmt::format("{:.3f}", mean.ratio);
      }
      cells.push_back(cell);
    }
    table += row_of(one.method, cells, "td");
  }
  return table + "</table>\n";
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
        "<p>Geometric means over the traces, each ratio at least {}. Below 1, Reckoner is better.</p>\n",
        kMinRatio);
    page += ratio_table(ratios, network, buffered);
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
