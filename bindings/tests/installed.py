#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Uses the bindings of an install tree, which was moved, as a game would: without the sources and without variables that
tell where the library is. Each language shows the moving car of a server.

installed.py PREFIX SOURCE SERVER [--library-dir lib]

Exits with 77 if no language could run. Fails if the tree lacks a file of a binding.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PYTHON = """
import sys, reckoner
with reckoner.Client("127.0.0.1", int(sys.argv[1]), insecure=True) as client:
    for _ in range(3000):
        client.wait(0.01)
        now = reckoner.now()
        client.update(now)
        for event in client.events():
            if event.kind == reckoner.ClientEventKind.JOINED:
                client.send(b"hello")
                client.flush()
        for entity, position in zip(*client.shown_poses()[:2]):
            print(client.name(entity), *position, flush=True)
"""
LUA = """
local reckoner = require "reckoner"
local ffi = require "ffi"
ffi.cdef "int usleep(unsigned);"
local client = reckoner.client { host = "127.0.0.1", port = tonumber(arg[1]), insecure = true }
for i = 1, 3000 do
  client:update(i * 0.01)
  for event in client:events() do
    if event.kind == reckoner.C.RECKONER_CLIENT_EVENT_JOINED then
      client:send("hello", 5, reckoner.C.RECKONER_DELIVERY_RELIABLE, nil)
      client:flush()
    end
  end
  local shown, count = client:shown()
  for k = 0, count - 1 do
    local at = shown[k].state.position
    print(client:name(shown[k].entity), at[0], at[1], at[2])
  end
  io.stdout:flush()
  ffi.C.usleep(10000)
end
"""
CSHARP = """
using System;
using System.Threading;
using Reckoner;
static class Watch {
  static void Main(string[] arguments) {
    using (var client = new Client(new ClientOptions { Host = "127.0.0.1", Port = ushort.Parse(arguments[0]), Insecure = true }))
      for (int i = 0; i < 3000; ++i) {
        double now = Now.Seconds;
        client.Update(now);
        while (client.PollEvent(out ClientEvent e))
          if (e.What == ClientEventKind.Joined) {
            client.Send(new byte[] { 1 });
            client.Flush();
          }
        Poses poses = client.ShownPoses();
        for (int k = 0; k < poses.Positions.Length; ++k)
          Console.WriteLine($"{client.Name(poses.Entities[k])} {poses.Positions[k].X} {poses.Positions[k].Y}");
        Thread.Sleep(10);
      }
  }
}
"""


def missing_files(prefix, source):
    """The files of the bindings that the install tree lacks or has with other contents."""
    installed = prefix / "share" / "reckoner"
    wanted = {f"python/reckoner/{file.name}": file for file in (source / "python/src/reckoner").glob("*.py*")
              if file.is_file() and file.suffix in (".py", ".typed")}
    wanted |= {f"lua/{name}": source / "lua" / name for name in ("reckoner.lua", "reckoner_declarations.lua", "README.md")}
    wanted |= {f"unity/{file.relative_to(source / 'unity').as_posix()}": file for file in (source / "unity").rglob("*")
               if file.is_file() and "Tests" not in file.relative_to(source / "unity").parts[0]}
    if len(wanted) < 30:
        sys.exit(f"only {len(wanted)} files were looked for: {source} is not the folder of the bindings")
    return [name for name, file in sorted(wanted.items())
            if not (installed / name).is_file() or (installed / name).read_bytes() != file.read_bytes()]


def places(command, server, environment):
    """The number of places at which a client saw the server's car."""
    serving = subprocess.Popen([server, "0", "60"], stdout=subprocess.PIPE, text=True)
    client, seen = None, set()
    try:
        port = re.search(r"\d+", serving.stdout.readline())[0]
        client = subprocess.Popen([*command, port], stdout=subprocess.PIPE, text=True, env=environment, cwd="/")
        for line in client.stdout:
            if line.startswith("car"):
                seen.add(line)
            if len(seen) > 20:
                break
    finally:
        for process in filter(None, (client, serving)):
            process.kill()
            process.wait()
    return len(seen)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("prefix", type=pathlib.Path)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("server")
    parser.add_argument("--library-dir", default="lib")
    arguments = parser.parse_args()
    if lacking := missing_files(arguments.prefix, arguments.source / "bindings"):
        sys.exit("not installed, or with other contents: " + ", ".join(lacking))
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("RECKONER_", "PYTHONPATH", "LUA_", "LD_"))}
    ran = 0
    with tempfile.TemporaryDirectory(prefix="reckoner_installed_") as folder:
        moved = pathlib.Path(folder) / "moved"
        for part in ("share/reckoner", arguments.library_dir):
            shutil.copytree(arguments.prefix / part, moved / part, symlinks=True,
                            ignore=shutil.ignore_patterns("*.a", "cmake", "pkgconfig"))
        bindings = moved / "share" / "reckoner"

        def show(language, file, text, command, **variables):
            nonlocal ran
            (pathlib.Path(folder) / file).write_text(text)
            seen = places(command, arguments.server, clean | variables)
            if seen <= 20:
                sys.exit(f"{language}: the car was seen at {seen} places")
            print(f"{language}: {seen} places")
            ran += 1

        python = next((p for p in (sys.executable, "/usr/bin/python3") if os.path.exists(p) and subprocess.run(
            [p, "-c", "import cffi, numpy"], capture_output=True, check=False).returncode == 0), None)
        if python:
            show("Python", "watch.py", PYTHON, [python, f"{folder}/watch.py"], PYTHONPATH=str(bindings / "python"),
                 PYTHONDONTWRITEBYTECODE="1")
        if shutil.which("luajit"):
            show("Lua", "watch.lua", LUA, ["luajit", f"{folder}/watch.lua"], LUA_PATH=f"{bindings}/lua/?.lua")
        if shutil.which("mcs") and shutil.which("mono"):
            (pathlib.Path(folder) / "watch.cs").write_text(CSHARP)
            subprocess.run(["mcs", "-unsafe", "-langversion:latest", "-nologo", f"-out:{folder}/watch.exe", f"{folder}/watch.cs",
                            *map(str, sorted((bindings / "unity/Runtime").glob("*.cs")))], check=True, cwd=folder)
            show("C#", "watch.cs", CSHARP, ["mono", f"{folder}/watch.exe"],
                 LD_LIBRARY_PATH=str(moved / arguments.library_dir))
    sys.exit(0 if ran else 77)


if __name__ == "__main__":
    main()
