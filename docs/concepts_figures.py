#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the pictures of concepts.md into docs/concepts/. The curves are computed, not drawn by hand: a body that turns, the
quadratic motions that describe it, and the cubic blend from one to the next.

concepts_figures.py
"""
import math
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent / "concepts"
TRUTH, MOTION, SHOWN, NOTE = "#7a7f8c", "#c0392b", "#1f6feb", "#57606a"


class Picture:
    """A plane with axes in units of its own, as SVG."""

    def __init__(self, width, height, x, y):
        self.size, self.x, self.y, self.parts = (width, height), x, y, []

    def at(self, x, y):
        return (self.size[0] * (x - self.x[0]) / (self.x[1] - self.x[0]),
                self.size[1] * (1.0 - (y - self.y[0]) / (self.y[1] - self.y[0])))

    def line(self, points, color, width=2.5, dash=""):
        path = " ".join("{:.1f},{:.1f}".format(*self.at(*point)) for point in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width}" stroke-dasharray="{dash}"/>')

    def dot(self, x, y, color, radius=5):
        self.parts.append('<circle cx="{:.1f}" cy="{:.1f}" r="{}" fill="{}"/>'.format(*self.at(x, y), radius, color))

    def box(self, x0, y0, x1, y1, color):
        (left, bottom), (right, top) = self.at(x0, y0), self.at(x1, y1)
        self.parts.append(f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}" fill="{color}"/>')

    def text(self, x, y, words, color=NOTE, anchor="start"):
        self.parts.append('<text x="{:.1f}" y="{:.1f}" fill="{}" text-anchor="{}">{}</text>'.format(*self.at(x, y), color, anchor, words))

    def write(self, name):
        width, height = self.size
        (FOLDER / name).write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'font-family="sans-serif" font-size="15">\n<rect width="{width}" height="{height}" fill="#ffffff"/>\n'
            + "\n".join(self.parts) + "\n</svg>\n")


def truth(t):
    """Straight on, then a turn from 1 s on."""
    turn = max(0.0, t - 1.0)
    return 8.0 * t - 1.2 * turn * turn, 3.0 * turn * turn


def velocity(t):
    turn = max(0.0, t - 1.0)
    return 8.0 - 2.4 * turn, 6.0 * turn


def motion_of(t0, knows_turn):
    """The quadratic that is published at t0."""
    (x, y), (vx, vy) = truth(t0), velocity(t0)
    ax, ay = (-2.4, 6.0) if knows_turn else (0.0, 0.0)
    return lambda t: (x + vx * (t - t0) + 0.5 * ax * (t - t0) ** 2, y + vy * (t - t0) + 0.5 * ay * (t - t0) ** 2)


def blended(old, new, begin, length):
    """Carries the shown pose from `old` to `new` with equal position and velocity at both ends."""
    def at(t):
        share = min(1.0, max(0.0, (t - begin) / length))
        weight = 1.0 - share * share * (3.0 - 2.0 * share)
        return tuple(b + weight * (a - b) for a, b in zip(old(t), new(t)))
    return at


def times(begin, end, count=80):
    return [begin + (end - begin) * i / count for i in range(count + 1)]


def draw_motion():
    picture = Picture(760, 300, (-0.5, 18.5), (-1.2, 6.0))
    first, second = motion_of(0.2, False), motion_of(1.35, True)
    sent = 1.35
    picture.line([truth(t) for t in times(0.0, 2.3)], TRUTH, 8)
    picture.line([first(t) for t in times(0.2, 2.2)], MOTION, 2, "6 5")
    picture.line([second(t) for t in times(sent, 2.3)], MOTION)
    (x, y), (px, py) = truth(sent), first(sent)
    picture.line([(x, y), (px, py)], NOTE, 1.5)
    picture.dot(*truth(0.2), MOTION)
    picture.dot(x, y, MOTION)
    picture.text(1.2, 0.5, "motion 1, published here", MOTION)
    picture.text(14.2, -0.7, "motion 1 continues straight on", MOTION, "middle")
    picture.text(6.2, 1.4, "motion 2: motion 1 is off by the threshold", MOTION, "middle")
    picture.text(13.6, 4.2, "the truth", TRUTH)
    picture.write("motion.svg")


def draw_blend():
    picture = Picture(760, 300, (-0.5, 18.5), (-1.2, 6.0))
    old, new = motion_of(0.2, False), motion_of(1.35, True)
    arrives, length = 1.55, 0.45
    shown = blended(old, new, arrives, length)
    picture.line([truth(t) for t in times(0.0, 2.3)], TRUTH, 8)
    picture.line([old(arrives), new(arrives)], MOTION, 2, "6 5")
    picture.line([shown(t) for t in times(0.0, 2.3, 200)], SHOWN, 3)
    picture.dot(*old(arrives), SHOWN)
    picture.dot(*shown(arrives + length), SHOWN)
    x, y = old(arrives)
    picture.text(x, y - 0.75, "motion 2 arrives: without a blend, the jump of the dashed line", MOTION, "middle")
    x, y = shown(arrives + length)
    picture.text(x + 0.4, y - 0.3, "the blend ends", SHOWN)
    picture.text(1.0, 0.5, "shown", SHOWN)
    picture.write("blend.svg")


def timeline(name, rows, marks, height):
    picture = Picture(760, height, (-340, 220), (0, len(rows) + 0.9))
    for x, words in marks:
        picture.line([(x, 0.0), (x, len(rows) + 0.3)], "#d0d7de", 1.5)
        picture.text(x, len(rows) + 0.5, words, NOTE, "middle")
    for i, (label, begin, end, color, words) in enumerate(rows):
        y = len(rows) - i - 0.9
        picture.text(-335, y + 0.2, label, "#24292f")
        picture.box(begin, y, end, y + 0.55, color)
        picture.text(end + 6 if end < 120 else end - 6, y + 0.18, words, NOTE if end < 120 else "#ffffff", "start" if end < 120 else "end")
    picture.write(name)


def draw_modes():
    timeline("modes.svg", [
        ("buffered: adaptive", -190, -90, SHOWN, "the newest update that has arrived"),
        ("present", -190, 0, SHOWN, "predicted from there on"),
        ("ahead", -190, 90, SHOWN, "your inputs count here"),
    ], [(-90, "- delay"), (0, "now, at the server"), (90, "+ lead")], 190)


def draw_lead():
    picture = Picture(760, 230, (-60, 320), (0, 4))
    for y, words in ((3, "client"), (1, "server")):
        picture.line([(0, y), (310, y)], "#24292f", 2)
        picture.text(-55, y - 0.1, words, "#24292f")
    for i in range(4):
        x = 30 + 50 * i
        picture.line([(x, 3), (x + 100, 1)], SHOWN, 2)
        picture.dot(x, 3, SHOWN)
        picture.dot(x + 100, 1, SHOWN)
        picture.text(x, 3.3, f"step {120 + i}", SHOWN, "middle")
        picture.text(x + 100, 0.4, f"tick {120 + i}", SHOWN, "middle")
    picture.line([(30, 2.0), (130, 2.0)], MOTION, 1.5, "4 4")
    picture.text(35, 2.12, "the lead", MOTION)
    picture.write("lead.svg")


def draw_budget():
    picture = Picture(760, 230, (-4, 42), (-1.2, 5))
    urgency = [(abs(math.sin(2.3 * i)) + 0.2) * 3.2 for i in range(14)]
    for i, value in enumerate(sorted(urgency, reverse=True)):
        picture.box(3 * i - 1, 0, 3 * i + 1, value, SHOWN if i < 8 else "#c9d1d9")
    picture.line([(22.5, -0.8), (22.5, 4.6)], MOTION, 2, "6 5")
    picture.text(22.0, 4.3, "sent in this tick", SHOWN, "end")
    picture.text(23.0, 4.3, "waits, and becomes more urgent", NOTE)
    picture.text(-3.5, -0.9, "updates by visible error for each byte, largest first")
    picture.write("budget.svg")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for draw in (draw_motion, draw_blend, draw_modes, draw_lead, draw_budget):
        draw()
