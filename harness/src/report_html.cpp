// SPDX-License-Identifier: MIT
#include "report_html.hpp"

#include "compare_output.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <reckoner/harness/method.hpp>

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
    "<p>In a game over the internet, each player's computer hears of the others only some times a second, "
    "late, "
    "and not always. It has to draw them sixty times a second all the same, so it must guess where they are. "
    "This page replays motion through a simulated bad network and measures how far what is drawn is from "
    "where things really were, for Reckoner and for the usual techniques, all with the same budget of "
    "updates. Smaller is better in every table, and the best of a row is blue.</p>\n";

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

// Three digits that say something, and no exponents.
std::string number(double value) {
  const double size = std::abs(value);
  const int decimals = size <= 0.0 ? 0 : std::clamp(2 - static_cast<int>(std::floor(std::log10(size))), 0, 6);
  return fmt::format("{:.{}f}", value, decimals);
}

std::string direction(const LinkOptions& link) {
  std::string text = fmt::format("{:g} ms", link.latency_ms);
  if (link.jitter_ms > 0.0) text += fmt::format(", up to some {:g} ms more", 2.0 * link.jitter_ms);
  if (link.loss_percent > 0.0) text += fmt::format(", {:g} % of the datagrams lost", link.loss_percent);
  if (link.rate_kbps > 0.0) text += fmt::format(", {:g} kbit/s", link.rate_kbps);
  return text;
}

std::string described(const LinkPair& links) {
  if (links.up == links.down) return "One way: " + direction(links.down) + ".";
  return "To the players: " + direction(links.down) + ". Back: " + direction(links.up) + ".";
}

std::string spent(const Comparison& comparison) {
  const SendBudget& budget = comparison.options.budget;
  if (budget.updates_per_second > 0.0)
    return fmt::format("On average {:g} updates a second for each entity.", budget.updates_per_second);
  if (budget.fixed_rate_hz > 0.0)
    return fmt::format("{:g} updates a second for each entity.", budget.fixed_rate_hz);
  return fmt::format("As many updates as Reckoner needs to stay within {:g} m.", budget.threshold_m);
}

std::string method_list(const std::vector<std::string>& methods) {
  std::string list = "<h2>What is compared</h2>\n<ul>\n";
  for (const std::string& method : methods) {
    const std::string summary{method_summary(method)};
    if (!summary.empty()) list += fmt::format("<li><b>{}</b>: {}</li>\n", escaped(method), escaped(summary));
  }
  return list +
         "</ul>\n<p>All but Reckoner are told exact times and, where they use it, the true acceleration. "
         "What "
         "shows the past is late on purpose: measured against the present that counts as error.</p>\n";
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
      cells.push_back(value ? number(*value) : "-");
      if (value && *value < least) {
        least = *value;
        best = cells.size() - 1;
      }
    }
    table += row_of(trace, cells, "td", best);
  }
  return table + "</table>\n";
}

std::string ratio_table(const std::vector<MethodRatios>& all, const std::string& network, bool buffered) {
  std::vector<std::string> names;
  for (const ComparedFigure& figure : compared_figures(buffered))
    names.emplace_back(figure.name);
  std::vector<std::string> titles;
  for (const ComparedFigure& figure : compared_figures(buffered))
    titles.emplace_back(figure.title);
  std::string table = "<table>\n" + row_of("Reckoner divided by", titles, "th");
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

std::string report_html(const Comparison& comparison, const std::vector<CompareRun>& runs,
                        const std::vector<ReportFigure>& figures) {
  const bool buffered = comparison.options.playout.mode != PlayoutMode::present;
  std::string page = kHead + method_list(comparison.methods);
  const auto ratios = ratios_of(runs, buffered);
  const auto compared = compared_figures(buffered);
  for (const NamedLinks& network : comparison.networks) {
    page += fmt::format("<h2>Network: {}</h2>\n<p>{} {}</p>\n", escaped(network.name),
                        described(network.links), spent(comparison));
    page += fmt::format(
        "<p>Reckoner against each of the others: below 1 it is better, 0.5 is half of theirs. Geometric "
        "means "
        "over the recordings, each ratio at least {}.</p>\n",
        kLeastRatio);
    page += ratio_table(ratios, network.name, buffered);
    page += fmt::format(
        "<p>Error: how far what is drawn is from {}, in metres. 95 of 100 frames are nearer.</p>\n",
        buffered ? "the path it follows" : "the truth at the same instant");
    page += error_table(runs, network.name, compared[0]);
    page +=
        "<p>Shaking: how hard what is drawn accelerates beyond the real motion, in m/s&sup2;. Corrections "
        "that jump are seen here.</p>\n" +
        error_table(runs, network.name, compared[2]);
  }
  for (const ReportFigure& figure : figures) {
    page += fmt::format("<h2>{}</h2>\n{}\n<p class=\"caption\">{}</p>\n", escaped(figure.heading), figure.svg,
                        escaped(figure.caption));
  }
  return page + "</body></html>\n";
}

}  // namespace reckoner::harness
