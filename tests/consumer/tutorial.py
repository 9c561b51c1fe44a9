#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Follows the tutorial (docs/tutorial): builds its programs against an install tree and plays every step.

tutorial.py PREFIX PAGES --cmake CMAKE [--build DIR] [--programs DIR] [--option X]... [--fresh]

PREFIX is the install tree, PAGES the folder docs/tutorial. --programs: the folder of reckoner-harness and reckoner-token, if it
is not PREFIX/bin. --build: a folder that stays, so that a compiler cache works. With --fresh, the program does what the first page says, word for word, in an empty folder. Otherwise it
builds all steps and plays them in windows that nobody sees. Exits with 77 if there is no SDL2.
"""
import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

GREEN, ORANGE, RED = (112, 224, 144), (255, 176, 64), (255, 80, 80)


@dataclasses.dataclass
class Window:
    """One player, and what came of it."""

    title: str
    keys: str = ""
    seconds: float = 5.0
    step: str = ""  # of the program; that of the run by default
    picture: pathlib.Path = None
    output: str = ""


@dataclasses.dataclass
class Run:
    """A server, perhaps a bad network, and windows."""

    server: str = ""  # the step whose server it is; the same step by default
    network: str = ""
    windows: list = dataclasses.field(default_factory=list)
    client: str = ""  # the step whose windows they are; the same step by default
    tokens: bool = False
    addresses: bool = False  # the server gets its addresses, and stops when it is told


def run_of(step):
    """How each step is played."""
    if step == "01":
        return Run(windows=[Window("Step 1", seconds=3)])
    if step == "03":
        return Run(server="02", network="mobile",
                   windows=[Window("the other player, over a network like a phone's", seconds=6.5),
                            Window("the player who moves", keys="u20r40u25l80d45r40", seconds=7.5, step="02")])
    options = {"04": {"network": "mobile"}, "06": {"tokens": True}, "07": {"tokens": True, "addresses": True, "client": "06"},
               "08": {"tokens": True, "addresses": True, "network": "mobile", "server": "07"}}
    return Run(**options.get(step, {}),
               windows=[Window(f"Step {int(step)}: left window", keys="u30r30d25l50"),
                        Window(f"Step {int(step)}: right window", keys="d20l30u25r50")])


def port_of(line):
    found = re.search(r"listening on port (\d+)", line)
    expect(found, f"no port in {line!r}")
    return found[1]


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


class Steps:
    """Plays the built programs of the tutorial."""

    def __init__(self, build, programs):
        self.build, self.programs = build, programs

    def tool(self, name, *arguments):
        subprocess.run([self.programs / name, *arguments], check=True, stdout=subprocess.DEVNULL)

    def play(self, step, folder):
        """Plays one step. Its pictures are in `folder`."""
        run, background = run_of(step), []
        try:
            self.play_with(step, run, folder, background)
        finally:
            for program in background:
                program.kill()
                program.wait()
        return run

    def play_with(self, step, run, folder, background):
        def start(*command, **streams):
            background.append(subprocess.Popen([str(each) for each in command], text=True, **streams))
            return background[-1]

        key, port, relay_port = folder / f"{step}.key", "0", "0"
        arguments = []
        if run.tokens:
            self.tool("reckoner-token", "key", key)
            arguments.append(key)
        if run.addresses:  # the server has to know its addresses before it starts
            port, relay_port = free_port(), free_port()
            arguments += [f"127.0.0.1:{port}", f"127.0.0.1:{relay_port}"]
        else:
            arguments.append(port)
        log = folder / f"{step}.log"
        with open(log, "w") as stream:
            server = start(self.build / f"{run.server or step}_server", *arguments, stderr=stream)
        port = port_in(log, server)
        if run.network:
            relay = start(self.programs / "reckoner-harness", "conditioner", "--listen", relay_port, "--to", f"127.0.0.1:{port}",
                          "--network", run.network, stdout=subprocess.PIPE)
            port = port_of(relay.stdout.readline())
        players = []
        for i, window in enumerate(run.windows):
            window.picture = folder / f"{step}_{i}.bmp"
            join = port
            if run.tokens:
                join = folder / f"{step}_{i}.token"
                self.tool("reckoner-token", "issue", join, "--key", key, "--server", f"127.0.0.1:{port}", "--client-id", str(i + 1),
                          "--game", "1")
            players.append(start(self.build / f"{window.step or run.client or step}_client", join, "--seconds", window.seconds, "--keys",
                                 window.keys, "--picture", window.picture, stdout=subprocess.PIPE,
                                 env=os.environ | {"SDL_VIDEODRIVER": "dummy"}))
            time.sleep(0.3)  # the players join in this order
        for window, player in zip(run.windows, players):
            window.output = player.communicate(timeout=60)[0]
            expect(player.returncode == 0, f"step {step}: the window ended with {player.returncode}: {window.output}")
        if run.addresses:
            server.terminate()
            server.wait(timeout=10)
            expect(server.returncode == 0 and "stopped" in log.read_text(), f"step {step}: the server ended with {server.returncode}")


def port_in(log, server):
    """The port that a server has written into its log."""
    for _ in range(600):
        if found := re.search(r"listening on port (\d+)", log.read_text()):
            return found[1]
        expect(server.poll() is None, f"no server: {log.read_text()}")
        time.sleep(0.05)
    raise SystemExit("the server does not listen")


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
        hurt = counts.get(RED, 0)  # somebody has just poked this player
        if step != "01":
            expect(hurt + counts.get(GREEN, 0) > 300, f"step {step}, {window.title}: no own player ({window.output})")
        if window.step in ("", step):
            expect(counts.get(ORANGE, 0) > 300, f"step {step}, {window.title}: nobody else ({window.output})")
    if step == "03":
        jump_m = float(re.search(r"largest step was ([\d.]+) m", run.windows[0].output)[1])
        expect(jump_m > 0.2, f"step 3: without a blend, nothing jumps: {jump_m} m")  # 8 m/s are 0.13 m in a picture
    if step in ("05", "06", "07"):
        pokes = [int(re.search(r"(\d+) pokes heard", window.output)[1]) for window in run.windows]
        expect(max(pokes) > 0, f"step {step}: {pokes} pokes")  # the players part soon: one may hear of none
    if step == "08":
        lines = [int(re.search(r"(\d+) corrections were large", window.output)[1]) for window in run.windows]
        expect(max(lines) > 0, f"step 8: {lines} corrections")
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
    return folder / "build", ["01"]


def build_all(arguments, binary):
    build(arguments.cmake, arguments.prefix / "share/reckoner/tutorial", binary, arguments.option)
    if not (binary / "02_client").exists():
        print("no SDL2: the servers were built, and no window")
        raise SystemExit(77)
    return binary, sorted(page.stem[:2] for page in arguments.pages.glob("0*.md"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("prefix", type=pathlib.Path)
    parser.add_argument("pages", type=pathlib.Path)
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--programs", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--option", action="append", default=[])
    parser.add_argument("--fresh", action="store_true")
    arguments = parser.parse_args()
    arguments.option.append(f"-DCMAKE_PREFIX_PATH={arguments.prefix}")
    with tempfile.TemporaryDirectory(prefix="reckoner_tutorial_") as name:
        folder = pathlib.Path(name)
        if arguments.fresh:
            binary, steps = follow_first_page(arguments, folder)
        else:
            binary, steps = build_all(arguments, arguments.build or folder / "build")
        player = Steps(binary, arguments.programs or arguments.prefix / "bin")
        with concurrent.futures.ThreadPoolExecutor(4) as pool:  # the programs wait most of the time
            for step, run in zip(steps, pool.map(lambda step: player.play(step, folder), steps)):
                check(step, run)
                print(f"step {step}: {' '.join(window.output.strip() for window in run.windows)}", flush=True)


if __name__ == "__main__":
    main()
