#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Follows the tutorial (docs/tutorial): builds its programs against an install tree and plays every step.

tutorial.py PREFIX PAGES --cmake CMAKE [--programs DIR] [--option X]... [--fresh]

PREFIX is the install tree, PAGES the folder docs/tutorial. --programs: the folder of reckoner-harness and reckoner-token, if it
is not PREFIX/bin. With --fresh, the program does what the first page says, word for word, in an empty folder. Otherwise it
builds all steps and plays them in windows that nobody sees. Exits with 77 if there is no SDL2.
"""
import argparse
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

GREEN, ORANGE = (112, 224, 144), (255, 176, 64)


@dataclasses.dataclass
class Window:
    """One player, and what came of it."""

    title: str
    keys: str = ""
    seconds: float = 4.0
    step: str = ""  # of the program; that of the run by default
    picture: pathlib.Path = None
    output: str = ""


@dataclasses.dataclass
class Run:
    """A server, perhaps a bad network, and windows."""

    server: str = ""  # the step whose server it is; the same step by default
    network: str = ""
    windows: list = dataclasses.field(default_factory=list)
    server_output: str = ""


def run_of(step):
    """How each step is played."""
    if step == "01":
        return Run(windows=[Window("Step 1", seconds=3)])
    if step == "03":
        return Run(server="02", network="mobile",
                   windows=[Window("the other player, over a network like a phone's", seconds=6.5),
                            Window("the player who moves", keys="u20r40u25l80d45r40", seconds=7.5, step="02")])
    return Run(server=step, network="mobile" if step == "04" else "",
               windows=[Window(f"Step {int(step)}: left window", keys="u30r30d25l50"),
                        Window(f"Step {int(step)}: right window", keys="d20l30u25r50")])


def port_of(line):
    if not (found := re.search(r"listening on port (\d+)", line)):
        raise SystemExit(f"no port in {line!r}")
    return found[1]


class Steps:
    """Plays the built programs of the tutorial."""

    def __init__(self, build, programs):
        self.build, self.programs = build, programs

    def play(self, step, folder):
        run = run_of(step)
        environment = os.environ | {"SDL_VIDEODRIVER": "dummy"}
        background = []
        try:
            server = subprocess.Popen([self.build / f"{run.server or step}_server", "0"], stderr=subprocess.PIPE, text=True)
            background.append(server)
            port = port_of(server.stderr.readline())
            if run.network:
                relay = subprocess.Popen([self.programs / "reckoner-harness", "conditioner", "--listen", "0", "--to",
                                          f"127.0.0.1:{port}", "--network", run.network], stdout=subprocess.PIPE, text=True)
                background.append(relay)
                port = port_of(relay.stdout.readline())
            players = []
            for i, window in enumerate(run.windows):
                window.picture = folder / f"{step}_{i}.bmp"
                command = [self.build / f"{window.step or step}_client", port, "--seconds", str(window.seconds),
                           "--keys", window.keys, "--picture", window.picture]
                players.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment))
                background.append(players[-1])
                time.sleep(0.3)  # the players join in this order
            for window, player in zip(run.windows, players):
                window.output = player.communicate(timeout=60)[0]
                if player.returncode != 0:
                    raise SystemExit(f"step {step}: the window ended with {player.returncode}: {window.output}")
        finally:
            for program in background:
                program.kill()
                program.wait()
        return run


def pixels_of(picture):
    """How often each colour is in a BMP file of 24 bits."""
    data = picture.read_bytes()
    begin = int.from_bytes(data[10:14], "little")
    counts = {}
    for i in range(begin, len(data) - 2, 3):
        color = (data[i + 2], data[i + 1], data[i])
        counts[color] = counts.get(color, 0) + 1
    return counts


def expect(condition, words):
    if not condition:
        raise SystemExit(words)


def check(step, run):
    """A disc of 0.8 m has 804 pixels. Another disc may cover a part of it."""
    for window in run.windows:
        counts = pixels_of(window.picture)
        if step != "01":
            expect(counts.get(GREEN, 0) > 300, f"step {step}, {window.title}: no own player ({window.output})")
        if window.step in ("", step):
            expect(counts.get(ORANGE, 0) > 300, f"step {step}, {window.title}: nobody else ({window.output})")
    if step == "03":
        jump_m = float(re.search(r"largest step was ([\d.]+) m", run.windows[0].output)[1])
        expect(jump_m > 0.2, f"step 3: without a blend, nothing jumps: {jump_m} m")  # 8 m/s are 0.13 m in a picture
    if step == "04":
        for window in run.windows:
            corrections, lead_ms = map(int, re.search(r"(\d+) corrections; inputs (\d+) ms", window.output).groups())
            expect(1 <= corrections < 30 and lead_ms > 30, f"step 4: {window.output}")


def build(cmake, source, binary, options):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("CMAKE_")}
    for command in ([cmake, "-S", source, "-B", binary, *options], [cmake, "--build", binary, "--parallel", "2"]):
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        expect(done.returncode == 0, f"{command} failed:\n{done.stdout}{done.stderr}")


def follow_first_page(arguments, folder):
    """The files of the page, and window.hpp from the install tree."""
    page = (arguments.pages / "01-one-moving-thing.md").read_text()
    blocks = re.findall(r"```(\w+)\n(.*?)```", page, re.S)
    programs = [text for language, text in blocks if language == "cpp"]
    expect(len(programs) == 2, "the first page has two programs")
    (folder / "CMakeLists.txt").write_text(next(text for language, text in blocks if language == "cmake"))
    (folder / "server.cpp").write_text(programs[0])
    (folder / "client.cpp").write_text(programs[1])
    (folder / "window.hpp").write_text((arguments.prefix / "share/reckoner/tutorial/window.hpp").read_text())
    build(arguments.cmake, folder, folder / "build", arguments.option)
    for side in ("server", "client"):
        (folder / "build" / side).rename(folder / "build" / f"01_{side}")
    return ["01"]


def build_all(arguments, folder):
    build(arguments.cmake, arguments.prefix / "share/reckoner/tutorial", folder / "build", arguments.option)
    steps = sorted(page.stem[:2] for page in arguments.pages.glob("0*.md"))
    if not (folder / "build/02_client").exists():
        print("no SDL2: the servers were built, and no window")
        raise SystemExit(77)
    return steps


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("prefix", type=pathlib.Path)
    parser.add_argument("pages", type=pathlib.Path)
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--programs", type=pathlib.Path)
    parser.add_argument("--option", action="append", default=[])
    parser.add_argument("--fresh", action="store_true")
    arguments = parser.parse_args()
    arguments.option.append(f"-DCMAKE_PREFIX_PATH={arguments.prefix}")
    with tempfile.TemporaryDirectory(prefix="reckoner_tutorial_") as name:
        folder = pathlib.Path(name)
        steps = (follow_first_page if arguments.fresh else build_all)(arguments, folder)
        player = Steps(folder / "build", arguments.programs or arguments.prefix / "bin")
        for step in steps:
            began = time.monotonic()
            check(step, player.play(step, folder))
            print(f"step {step}: {time.monotonic() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
