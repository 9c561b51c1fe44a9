#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plays the steps of the tutorial in Python (docs/tutorial/python.md) with the bindings of an install tree.

tutorial_python.py PREFIX [--picture FILE]

Run it where a window can open, for example with xvfb-run. With --picture, also writes what the screen of step 2 shows (needs
Pillow). Exits with 77 without numpy, cffi or Tk.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

GREEN, ORANGE = (112, 224, 144), (255, 176, 64)

def take(picture):
    """Writes the screen as soon as it shows both players."""
    from PIL import ImageGrab
    for _ in range(60):
        time.sleep(0.3)
        screen = ImageGrab.grab(xdisplay=os.environ["DISPLAY"]).convert("RGB").crop((0, 0, 640, 400))
        colors = {color: count for count, color in screen.getcolors(1 << 20)}
        if min(colors.get(GREEN, 0), colors.get(ORANGE, 0)) > 600:
            screen.quantize(32).save(picture)
            return
    sys.exit("the screen does not show two players")


def play(folder, environment, server_step, client_steps, picture=None):
    """Returns what the windows print."""
    server = subprocess.Popen([sys.executable, folder / f"{server_step}_server.py", "0"], env=environment, stdout=subprocess.PIPE,
                              text=True)
    try:
        port = re.search(r"port (\d+)", server.stdout.readline())[1]
        windows = []
        for i, step in enumerate(client_steps):
            right = ["--right"] if i == 0 else []
            windows.append(subprocess.Popen([sys.executable, folder / f"{step}_client.py", port, "--seconds", str((20.0 if picture else 5.0) - 0.5 * i), *right],
                                            env=environment, stdout=subprocess.PIPE, text=True))
        if picture:
            take(picture)
        return [window.communicate(timeout=60)[0] for window in windows]
    finally:
        server.kill()
        server.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("prefix", type=pathlib.Path)
    parser.add_argument("--picture", type=pathlib.Path)
    arguments = parser.parse_args()
    try:
        import cffi  # noqa: F401
        import numpy  # noqa: F401
        import tkinter  # noqa: F401
    except ImportError as missing:
        print(f"left out: {missing}")
        sys.exit(77)
    share = arguments.prefix / "share/reckoner"
    environment = os.environ | {"PYTHONPATH": str(share / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    for server_step, client_steps, last in ((1, [1], 1), (2, [2, 2], 2), (2, [2, 3], 2)):
        picture = arguments.picture if client_steps == [2, 2] else None
        printed = play(share / "tutorial/python", environment, server_step, client_steps, picture)
        shown = [int(text.split()[0]) if text else 0 for text in printed]
        print(f"steps {client_steps}: {shown} entities")
        if max(shown) != last:  # the window that closes first sees the other one
            sys.exit(f"steps {client_steps}: {shown} entities were shown, not {last}")


if __name__ == "__main__":
    main()
