#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the players' game of the scenario football, and renews the tables in prediction-figures.md.

Usage, from the repository:  python3 docs/prediction_figures.py [build/bin/reckoner-harness]
"""
import json
import pathlib
import subprocess
import sys
import tempfile

NETWORKS = ["lan", "broadband", "wifi", "intercity", "mobile", "stress"]
SEEDS = "11,12,13"
ALL = f"football --seeds {SEEDS} --seconds 60"
ALONE = "football --network lan --no-contacts --seconds 600"
SLOW = f"football --network intercity --seeds {SEEDS} --seconds 60 --input-rate 30"
FAST = f"football --seeds {SEEDS} --seconds 60 --frame-rate 240"
COMMANDS = [ALL, ALONE, SLOW, FAST]
PAGE = pathlib.Path(__file__).with_name("prediction-figures.md")

# text, path in the JSON, decimals, factor
ROWS = [
    ("answer after, pictures, p50", "own_response_frames.p50", 0, 1),
    ("answer after, pictures, p99", "own_response_frames.p99", 0, 1),
    ("velocity steps, shown / true, p99", "own_velocity_step_ratio_p99", 2, 1),
    ("largest position step, cm", "own_position_step_m_max", 1, 100),
    ("error to the server's path, p50, cm", "own_error_m.p50", 1, 100),
    ("error to the server's path, p95, cm", "own_error_m.p95", 1, 100),
    ("distance left 0.25 s after a correction, cm", "own_offset_left_m_max", 1, 100),
    ("excess acceleration, m/s^2", "own_excess_acceleration_mps2", 0, 1),
    ("acceleration of corrections / snapping", "correction_acceleration_to_snap", 3, 1),
    ("corrections a minute", "corrections_per_minute", 1, 1),
    ("ticks without input, %", "ticks_without_input_share", 2, 100),
    ("lead, mean, ms", "lead_s.mean", 0, 1000),
    ("lead, p99, ms", "lead_s.p99", 0, 1000),
    ("error of the ball, p95, cm", "ball_error_m.p95", 0, 100),
    ("error of others' cars, p95, cm", "others_error_m.p95", 0, 100),
    ("contacts denied, %", "contacts_denied_share", 1, 100),
    ("contacts with cars denied, %", "car_contacts_denied_share", 1, 100),
    ("up, B/s", "up_bytes_per_s", 0, 1),
    ("down, B/s", "down_bytes_per_s", 0, 1),
]


def measure(harness, command):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "figures.json")
        subprocess.run([harness, *command.split(), "--json", str(file)], check=True, stdout=subprocess.DEVNULL)
        return {run["network"]: {m["method"]: m for m in run["methods"]} for run in json.loads(file.read_text())["runs"]}


def number(method, path):
    value = method
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def cell(method, path, decimals, factor):
    value = number(method, path)
    return "-" if value is None else f"{factor * value:.{decimals}f}"


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def networks_table(runs):
    rows = [[text] + [cell(runs[n]["reckoner"], path, d, f) for n in NETWORKS] for text, path, d, f in ROWS]
    return table(["Reckoner"] + NETWORKS, rows)


def methods_table(runs):
    methods = list(runs["intercity"])
    rows = [[text] + [cell(runs["intercity"][m], path, d, f) for m in methods] for text, path, d, f in ROWS]
    return table(["`intercity`"] + methods, rows)


def wire_table(runs, slow):
    rows = []
    for rate, run in (("60", runs), ("30", slow)):
        m = run["intercity"]["reckoner"]
        for direction in ("up", "down"):
            payload, wire = m[f"{direction}_payload_bytes_per_s"], m[f"{direction}_wire_bytes_per_s"]
            datagrams = (wire - payload) / 38.0  # IPv4, UDP and ENet's command: 20 + 8 + 10 bytes
            of = [f"{payload + datagrams * (28 + each):.0f}" for each in (10, 5, 25)]
            rows.append([rate, direction, f"{m[direction + '_bytes_per_s']:.0f}", f"{payload:.0f}", *of])
    return table(["datagrams up a second", "direction", "predictions", "all payload", "`enet`", "`udp`",
                  "`udp` with a key"], rows)


def smoothing_at_equal_error(harness, network, method, runs):
    """The factor of exponential smoothing whose error (p95) is Reckoner's, and its acceleration of corrections.

    Halves an interval of factors six times, and returns the tried factor with the nearest error.
    """
    wanted = runs[network]["reckoner"]["own_error_m"]["p95"]
    low, high = 0.3, 0.98  # the error grows with the factor
    figures = {}
    for _ in range(6):
        factor = round(0.5 * (low + high), 4)
        run = measure(harness, f"{method} --network {network} --smoothing {factor}")[network]
        figures[factor] = run[f"exponential-{factor:g}"]
        low, high = (factor, high) if figures[factor]["own_error_m"]["p95"] < wanted else (low, factor)
    nearest = min(figures, key=lambda f: abs(figures[f]["own_error_m"]["p95"] - wanted))
    return nearest, figures[nearest]


def targets_table(runs, alone, fast, equal):
    r = {n: runs[n]["reckoner"] for n in NETWORKS}
    rows = []

    def add(target, measured, holds):
        rows.append([target, measured, "yes" if holds else "**no**"])

    def over_all(target, path, limit, decimals=2, factor=1):
        values = {n: factor * (number(r[n], path) or 0.0) for n in NETWORKS}
        fails = [n for n in NETWORKS if values[n] > limit]
        text = f"{min(values.values()):.{decimals}f} to {max(values.values()):.{decimals}f}"
        if fails and len(fails) < len(NETWORKS):
            text += "; not on " + ", ".join(f"`{n}`" for n in fails)
        add(target, text, not fails)

    over_all("the own car answers in the picture of the key (p99 of pictures: 0)", "own_response_frames.p99", 0, 0)
    lan = alone["lan"]["reckoner"]
    add("`lan` without contacts: no correction in 10 minutes", f"{lan['corrections_per_minute'] * 10:.0f} for a client",
        lan["corrections_per_minute"] == 0)
    share = 100 * r["intercity"]["ticks_without_input_share"]
    add("`intercity`: at most 0.3 % of ticks without the right input", f"{share:.2f} %", share <= 0.3)
    lead, most = 1000 * r["intercity"]["lead_s"]["mean"], 80 + 20 * 2.576 + 1.5 * 1000 / 60
    add(f"`intercity`: mean lead at most delay + jitter p99 + 1.5 ticks, {most:.0f} ms", f"{lead:.0f} ms", lead <= most)
    over_all("velocity steps at corrections at most 1.3 times the true ones", "own_velocity_step_ratio_p99", 1.3)
    steps = [100 * fast[n]["reckoner"]["own_position_step_m_max"] for n in NETWORKS]
    add("no position step above 1 cm (240 pictures a second)", f"{min(steps):.2f} to {max(steps):.2f}", max(steps) <= 1)
    over_all("the error of a correction is gone after 0.25 s (below 1 mm)", "own_offset_left_m_max", 0.1, 2, 100)
    over_all("excess acceleration of corrections at most 0.1 of snapping", "correction_acceleration_to_snap", 0.1, 3)
    ratios = {n: r[n]["correction_acceleration_mps2"] / figures["correction_acceleration_mps2"]
              for n, (_, figures) in equal.items()}
    add("less acceleration of corrections than exponential smoothing with an equal error (p95)",
        ", ".join(f"{ratios[n]:.2f} (`{n}`, {equal[n][0]:g})" for n in NETWORKS), max(ratios.values()) < 1)
    ball = r["intercity"]["ball_error_m"]["p95"] / runs["intercity"]["no-prediction"]["ball_error_m"]["p95"]
    add("`intercity`: error of the ball (p95) at most 0.7 of that without prediction", f"{ball:.2f}", ball <= 0.7)
    for name, method in (("stepped by the game", "reckoner"), ("extrapolated", "reckoner-ahead")):
        ratios = {}
        for n in NETWORKS:
            here, there = (runs[n][m]["car_contacts_denied_share"] for m in (method, "reckoner-present"))
            if here is not None and there:
                ratios[n] = here / there
        fails = [n for n in ratios if ratios[n] > 0.5]
        add(f"others ahead, {name}: denied contacts with cars at most 0.5 of those with others in the present",
            ", ".join(f"{ratios[n]:.2f} (`{n}`)" for n in ratios), not fails)
    over_all("inputs and results: at most 0.5 kB/s and 6 bytes for each entity and tick, together 1220 B/s",
             "up_bytes_per_s", 1220, 0)
    down = lan["down_bytes_per_s"] / (2 * 60)
    add("down at most 3 bytes for each predicted entity and tick while predictions hold", f"{down:.2f}", down <= 3)
    return table(["target", "measured", "holds"], rows)


def main():
    harness = sys.argv[1] if len(sys.argv) > 1 else "build/bin/reckoner-harness"
    runs, alone, slow, fast = (measure(harness, command) for command in COMMANDS)
    equal = {n: smoothing_at_equal_error(harness, n, ALL, runs) for n in NETWORKS}
    parts = {"networks": networks_table(runs), "methods": methods_table(runs), "wire": wire_table(runs, slow),
             "targets": targets_table(runs, alone, fast, equal)}
    page = PAGE.read_text()
    for name, text in parts.items():
        begin, end = f"<!-- {name} -->\n", f"\n<!-- end of {name} -->"
        head, rest = page.split(begin)
        page = head + begin + "\n" + text + "\n" + end + rest.split(end)[1]
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
