#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the first program of a README against a server with a moving car: it must have at most 25 lines and print the
car at more than 20 places.

quick_start.py README LANGUAGE SERVER FILE COMMAND...     writes the program to FILE and runs COMMAND
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading

readme, language, server_program, file, *command = sys.argv[1:]
text = re.search(rf"```{language}\n(.*?)```", pathlib.Path(readme).read_text(), re.S)[1]
lines = len(text.splitlines())
if lines > 25:
    sys.exit(f"{readme}: the first program has {lines} lines")
server = subprocess.Popen([server_program, "0", "100"], stdout=subprocess.PIPE, text=True)
client = None


def stop():
    """Ends the client with everything that it started."""
    os.killpg(client.pid, signal.SIGTERM)


places = set()
try:
    port = re.search(r"\d+", server.stdout.readline())[0]
    pathlib.Path(file).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(file).write_text(text.replace("26000", port))
    client = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    limit = threading.Timer(80.0, stop)
    limit.start()
    for line in client.stdout:
        if numbers := re.findall(r"-?\d+\.\d+", line):
            places.add(tuple(numbers))
        if len(places) > 20:
            break
    limit.cancel()
finally:
    if client is not None and client.poll() is None:
        stop()
        client.wait()
    server.kill()
    server.wait()
print(f"{language}: {lines} lines, {len(places)} places")
sys.exit(0 if len(places) > 20 else 1)
