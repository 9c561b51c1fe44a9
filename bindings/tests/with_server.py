#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a command while a server with a moving car runs, and exits as the command does.

with_server.py SERVER COMMAND...     the word PORT in the command is replaced by the server's port
"""
import re
import subprocess
import sys

server = subprocess.Popen([sys.argv[1], "0", "100"], stdout=subprocess.PIPE, text=True)
try:
    port = re.search(r"\d+", server.stdout.readline())[0]
    sys.exit(subprocess.run([port if word == "PORT" else word for word in sys.argv[2:]], timeout=90, check=False).returncode)
finally:
    server.kill()
    server.wait()
