#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws docs/moving_picture.svg: a runner over a bad network, snapped and shown by Reckoner.

moving_picture.py HARNESS OUT.svg   HARNESS is the program reckoner-harness

The runner turns at corners. Both methods get the same number of updates over the same simulated network, with the same
seed; the picture is what they showed, frame by frame."""
import csv
import math
import pathlib
import subprocess
import sys
import tempfile

NETWORK, UPDATES_PER_S, SEED = "intercity", 10, 1
FRAMES_PER_S = 30
BEGIN_S, SECONDS = 3.0, 6.0  # the shown part; before, client and clock settle
WIDTH, HEIGHT, SCALE = 430, 280, 26.0  # of a panel, pixels; pixels per metre
SPEED_MPS = 5.0
CORNERS = [(2.0, 2.0), (7.5, 3.2), (9.0, 7.0), (14.0, 6.5), (12.0, 2.0), (6.0, 7.4), (2.4, 6.6)]  # m


def truth(time_s):
    """The position on the closed line through CORNERS at a constant speed, m."""
    sides = list(zip(CORNERS, CORNERS[1:] + CORNERS[:1]))
    lengths = [math.dist(a, b) for a, b in sides]
    left = (SPEED_MPS * time_s) % sum(lengths)
    for (a, b), length in zip(sides, lengths):
        if left <= length:
            return tuple(x + (y - x) * left / length for x, y in zip(a, b))
        left -= length
    return CORNERS[0]


def shown_by(harness, method, trace, folder):
    """The poses that a client with this method drew, as (time, x, y)."""
    out = pathlib.Path(folder) / f"{method}.csv"
    subprocess.run(
        [harness, "replay", "--trace", trace, "--network", NETWORK, "--method", method, "--seed", str(SEED),
         "--updates-per-second", str(UPDATES_PER_S), "--rendered", out],
        check=True, stdout=subprocess.DEVNULL)
    with open(out, newline="") as file:
        rows = [(float(r["frame_time_s"]), float(r["x"]), float(r["y"])) for r in csv.DictReader(file)]
    return sorted(rows)


def at_frames(rows):
    """The newest drawn pose at each frame of the picture."""
    poses, next_row = [], 0
    for frame in range(int(SECONDS * FRAMES_PER_S)):
        time_s = BEGIN_S + frame / FRAMES_PER_S
        while next_row + 1 < len(rows) and rows[next_row + 1][0] <= time_s + 1e-6:
            next_row += 1
        poses.append(rows[next_row][1:])
    return poses


def pixels(poses):
    return [(20.0 + SCALE * x, HEIGHT - 14.0 - SCALE * y) for x, y in poses]


def moving_dot(points, style):
    """A dot that jumps from frame to frame, as a screen does."""
    values = "".join(
        f'<animate attributeName="{name}" dur="{SECONDS}s" repeatCount="indefinite" calcMode="discrete" '
        f'values="{";".join(f"{point[axis]:.1f}" for point in points)}"/>'
        for axis, name in enumerate(("cx", "cy")))
    return f'<circle {style} cx="{points[0][0]:.1f}" cy="{points[0][1]:.1f}">{values}</circle>'


def trail(points, style):
    """The line behind the dot, which grows with it."""
    so_far, lengths = 0.0, [0.0]
    for a, b in zip(points, points[1:]):
        so_far += math.dist(a, b)
        lengths.append(so_far)
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    offsets = ";".join(f"{so_far - length:.0f}" for length in lengths)
    return (f'<polyline {style} points="{line}" stroke-dasharray="{so_far:.0f}" stroke-dashoffset="0">'
            f'<animate attributeName="stroke-dashoffset" dur="{SECONDS}s" repeatCount="indefinite" '
            f'calcMode="discrete" values="{offsets}"/></polyline>')


def panel(left, title, note, shown, true_points, colour):
    ring = pixels(CORNERS + CORNERS[:1])
    course = " ".join(f"{x:.1f},{y:.1f}" for x, y in ring)
    return (f'<g transform="translate({left},0)">'
            f'<text x="20" y="24" font-weight="bold">{title}</text><text x="20" y="42" fill="#666">{note}</text>'
            f'<polyline points="{course}" fill="none" stroke="#ddd" stroke-width="7" stroke-linejoin="round"/>'
            + trail(shown, f'fill="none" stroke="{colour}" stroke-width="1.6" opacity="0.75"')
            + moving_dot(true_points, 'r="8" fill="none" stroke="#333" stroke-width="1.5"')
            + moving_dot(shown, f'r="5" fill="{colour}"') + "</g>")


def main():
    harness, out = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "runner.csv"
        rows = ["t,x,y,z"]
        rows += [f"{k / 60:.6f},{x:.6f},{y:.6f},0" for k in range(720) for x, y in [truth(k / 60)]]
        trace.write_text("\n".join(rows) + "\n")
        shown = {method: at_frames(shown_by(harness, method, trace, folder)) for method in ("snap", "reckoner")}
    true_poses = [truth(BEGIN_S + frame / FRAMES_PER_S) for frame in range(int(SECONDS * FRAMES_PER_S))]

    def steps(poses):
        """The largest change of velocity between two frames, m/s."""
        speeds = [tuple((b - a) * FRAMES_PER_S for a, b in zip(p, q)) for p, q in zip(poses, poses[1:])]
        return max(math.dist(a, b) for a, b in zip(speeds, speeds[1:]))

    def note(method):
        return f"largest step of velocity {steps(shown[method]):.0f} m/s; the runner's own: {steps(true_poses):.0f} m/s"

    panels = [
        panel(0, "Constant velocity, snapping", note("snap"),
              pixels(shown["snap"]), pixels(true_poses), "#c2410c"),
        panel(WIDTH, "Reckoner", note("reckoner"),
              pixels(shown["reckoner"]), pixels(true_poses), "#0369a1"),
    ]
    out.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" font-size="14"><rect width="100%" height="100%" fill="#fff"/>'
        + "".join(panels) + "</svg>\n")


if __name__ == "__main__":
    main()
