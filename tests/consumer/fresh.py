#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does what a new user does: a new folder outside the repository, a few lines, a remote entity on the screen.

fresh.py --server PROGRAM [--server-argument X] [--project FOLDER --main FILE --prefix DIR --cmake CMAKE [--option X]...] [--run COMMAND...]

Copies FOLDER/CMakeLists.txt and the program into a new folder and builds it against the prefix, or uses COMMAND
unchanged. Starts the server and runs the program for two seconds. Fails unless it prints poses of a car on a circle.
"""
import argparse
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SECONDS = 2


def build(folder, arguments):
    main = pathlib.Path(arguments.main)
    shutil.copy(pathlib.Path(arguments.project) / "CMakeLists.txt", folder)
    shutil.copy(main, folder / ("main" + main.suffix))
    lines = (folder / "CMakeLists.txt").read_text().splitlines()
    if len(lines) > 10:
        sys.exit(f"{len(lines)} lines of CMake: ten were promised")
    code = main.read_text().split("snip: end")[0].splitlines()
    if len(code) > 60:
        sys.exit(f"{len(code)} lines of code: about thirty statements were promised")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("CMAKE_")}
    for command in (
        [arguments.cmake, "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={arguments.prefix}", *arguments.option],
        [arguments.cmake, "--build", "build"],
    ):
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{command} failed:\n{done.stdout}{done.stderr}")
    return [str(folder / "build" / "watch")]


def watch(server_command, command):
    server = subprocess.Popen([*server_command, "0", str(SECONDS + 15)], stdout=subprocess.PIPE, text=True)
    try:
        port = server.stdout.readline().split()[-1]
        return subprocess.run(
            [*command, "127.0.0.1", port, str(SECONDS)], capture_output=True, text=True, timeout=30
        )
    finally:
        server.kill()
        server.wait()


def check(watched):
    if watched.returncode != 0:
        sys.exit(f"exit code {watched.returncode}\n{watched.stdout}{watched.stderr}")
    places = [tuple(map(float, line.split()[2:])) for line in watched.stdout.splitlines() if " car " in line]
    if len(places) < 20:
        sys.exit(f"{len(places)} poses were shown in {SECONDS} s")
    radii = [math.hypot(x, y) for x, y, _ in places]
    path_m = sum(math.dist(a, b) for a, b in zip(places, places[1:]))
    if min(radii) < 19 or max(radii) > 21 or not 5 < path_m < 25:
        sys.exit(f"not the circle of 20 m at 10 m/s: {min(radii)} to {max(radii)} m, {path_m} m in all")
    print(f"{len(places)} poses, {path_m:.1f} m")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--server-argument", action="append", default=[])
    parser.add_argument("--project")
    parser.add_argument("--main")
    parser.add_argument("--prefix")
    parser.add_argument("--cmake")
    parser.add_argument("--option", action="append", default=[])
    parser.add_argument("--run", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="reckoner_fresh_") as folder:
        command = arguments.run or build(pathlib.Path(folder), arguments)
        watched = watch([arguments.server, *arguments.server_argument], command)
    check(watched)


if __name__ == "__main__":
    main()
