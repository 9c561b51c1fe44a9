#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the profiles of blends, and renews the table in TUNING.md and the picture frontier.svg.

Usage, from the repository:  python3 docs/frontier_figures.py build/bin/reckoner-harness TRACE.csv...
Needs gnuplot. Measured are the first 60 s of the busiest entity of each trace, at 10 updates a second.
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

PAGE = pathlib.Path(__file__).with_name("TUNING.md")
PICTURE = pathlib.Path(__file__).with_name("frontier.svg")
SEEDS = {"intercity": [11, 12], "mobile": [11, 12, 13, 14, 15, 16, 17, 18], "lan": [11, 12]}
PROFILES = ["article", "balanced", "accurate", "gentle"]
CURVES = {"cubic": [4, 5, 6.5, 8, 10, 13], "damped": [5, 6, 6.5, 7, 8, 9.5, 11, 13, 15, 18]}
OTHERS = ["projective", "linear", "quadratic", "offset-decay", "colyseus-like"]
# Client libraries of others on other recordings, relative to snapping: only the error was measured.
LIBRARIES = {"Colyseus 0.18 Predict, 10/s": 1.23, "Colyseus 0.18 Predict, 60/s": 0.77}


class Study:
    """Runs the harness. Each figure is one number per trace."""

    def __init__(self, harness, traces):
        self.harness, self.traces = harness, traces
        self.snapping = {network: self.runs(network, "snap") for network in SEEDS}

    def runs(self, network, method, *options):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "figures.json")
            traces = [word for trace in self.traces for word in ("--trace", trace)]
            subprocess.run([self.harness, "compare", *traces, "--entity", "busiest", "--seconds", "60",
                            "--network", network, "--methods", method, "--updates-per-second", "10",
                            "--seeds", ",".join(map(str, SEEDS[network])), *options, "--json", str(file)],
                           check=True, stdout=subprocess.DEVNULL)
            runs = json.loads(file.read_text())["runs"]
        by_trace = {}
        for run in runs:
            by_trace.setdefault(run["trace"], []).append(run)
        return {trace: {"error": mean([r["now_error_m"]["p95"] for r in of]),
                        "acceleration": math.sqrt(mean([r["excess_acceleration_mps2"] ** 2 for r in of])),
                        "steps": mean([r["velocity_step_mps"]["shown_p99"] for r in of]),
                        "true_steps": mean([r["velocity_step_mps"]["true_p99"] for r in of])}
                for trace, of in by_trace.items()}

    def figures(self, network, method, *options):
        """The errors relative to snapping: geometric mean and largest; the excess acceleration relative to snapping:
        mean; the largest velocity steps relative to the truth's: geometric mean."""
        runs, snapping = self.runs(network, method, *options), self.snapping[network]
        errors = [max(0.25, runs[t]["error"] / snapping[t]["error"]) for t in runs]
        return {"error": geometric_mean(errors), "worst": max(errors),
                "acceleration": mean([runs[t]["acceleration"] / snapping[t]["acceleration"] for t in runs]),
                "steps": geometric_mean([runs[t]["steps"] / runs[t]["true_steps"] for t in runs])}


def mean(numbers):
    return sum(numbers) / len(numbers)


def geometric_mean(numbers):
    return math.exp(mean([math.log(number) for number in numbers]))


def table(study):
    rows = ["| profile | `intercity` | largest | `mobile` | largest | `lan` | excess acceleration | velocity steps |",
            "|---|---|---|---|---|---|---|---|"]
    for profile in PROFILES:
        by = {network: study.figures(network, "reckoner", "--blend-profile", profile) for network in SEEDS}
        rows.append(f"| `{profile}` | {by['intercity']['error']:.3f} | {by['intercity']['worst']:.2f} | "
                    f"{by['mobile']['error']:.3f} | {by['mobile']['worst']:.2f} | {by['lan']['error']:.3f} | "
                    f"{by['intercity']['acceleration']:.3f} | {by['intercity']['steps']:.2f} |")
    return "\n".join(rows) + "\n"


def draw(study):
    blocks, plots = [], []

    def add(name, points, style, place="right offset 0,-0.9"):
        block = f"$block{len(blocks)}"
        rows = "\n".join(f'{p["acceleration"]} {p["error"]} "{label}"' for label, p in points)
        blocks.append(f"{block} << EOD\n{rows}\nEOD")
        title = f'title "{name}"' if name else "notitle"
        plots.append(f"{block} using 1:2 {style} {title}")
        if not name or "linespoints" not in style:
            plots.append(f'{block} using 1:2:3 with labels {place} notitle')

    for curve, lengths in CURVES.items():
        points = [(f"T = {t:g}", study.figures("intercity", "reckoner", "--blend-curve", curve, "--blend-frames", str(t)))
                  for t in lengths]
        add(f"{curve} curve, T from {lengths[0]} to {lengths[-1]} frames", points, "with linespoints pt 7 ps 0.4")
    add("profiles", [(p, study.figures("intercity", "reckoner", "--blend-profile", p)) for p in PROFILES],
        "with points pt 7 ps 1.2 lc rgb '#c0392b'")
    known = subprocess.run([study.harness, "compare", "--help"], capture_output=True, text=True, check=True).stdout
    add("other methods of the harness", [(m, study.figures("intercity", m)) for m in OTHERS if m in known],
        "with points pt 5 ps 0.8 lc rgb '#7f8c8d'", "right offset -1,0")
    for name, error in LIBRARIES.items():
        plots.append(f'{error} with lines dashtype 2 title "{name}: acceleration unknown"')
    newline = "\n"
    script = f"""set terminal svg size 900,560 font "sans-serif,13" background rgb "white"
set output "{PICTURE}"
set xrange [0.08:0.5]
set yrange [0.6:1.8]
set xlabel "excess acceleration / that of snapping"
set ylabel "p95 same-time error / that of snapping"
set key at graph 0.98,0.42 right reverse Left
set grid
{newline.join(blocks)}
plot {", ".join(plots)}
"""
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def main():
    study = Study(sys.argv[1], sys.argv[2:])
    begin, end = "<!-- profiles -->\n", "<!-- end of profiles -->"
    text = PAGE.read_text()
    head, rest = text.split(begin)
    tail = rest.split(end)[1]
    PAGE.write_text(head + begin + table(study) + end + tail)
    draw(study)


if __name__ == "__main__":
    main()
