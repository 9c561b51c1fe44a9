#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks every file of a compile database with clang-tidy, except the tests.

lint.py BUILD_DIR [JOBS]   exit code 1 if clang-tidy found something

ccache keeps the results of faultless files (clang_tidy_as_compiler)."""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NOISE = re.compile(r"^\d+ warnings?( and \d+ errors?)? (generated|treated)")


def settings():
    """The files of settings of clang-tidy. Each applies to its folder."""
    return sorted(path for path in ROOT.glob("**/.clang-tidy") if path.relative_to(ROOT).parts[0] != "build")


def environment():
    """Like the launcher of compilers in ReckonerOptions.cmake. Comments count, because NOLINT is in comments."""
    return os.environ | {
        "CCACHE_BASEDIR": str(ROOT),
        "CCACHE_NOHASHDIR": "1",
        "CCACHE_COMMENTS": "1",
        "CCACHE_COMPILERTYPE": "clang",
        "CCACHE_COMPILERCHECK": "clang-tidy --version",
        "CCACHE_EXTRAFILES": ":".join(map(str, [HERE / "clang_tidy_as_compiler", *settings()])),
    }


def command_for(entry):
    """The arguments of the entry's compiler, for clang_tidy_as_compiler."""
    words = shlex.split(entry["command"])
    compiler = next(i for i, word in enumerate(words) if re.search(r"clang(\+\+)?[-\d.]*$", word))
    cache = [shutil.which("ccache")] if shutil.which("ccache") else []
    return [*cache, str(HERE / "clang_tidy_as_compiler"), *words[compiler + 1 :]]


def check(entry):
    finished = subprocess.run(
        command_for(entry), cwd=entry["directory"], env=environment(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )
    said = "\n".join(line for line in finished.stdout.split("\n") if not NOISE.match(line)).strip()
    return finished.returncode == 0, said


def main():
    build = pathlib.Path(sys.argv[1])
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else os.cpu_count()
    entries = json.loads((build / "compile_commands.json").read_text())
    entries = [entry for entry in entries if "tests" not in pathlib.Path(os.path.relpath(entry["file"], ROOT)).parts]
    if not entries:
        sys.exit(f"lint: no files in {build}")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for entry, (passed, said) in zip(entries, pool.map(check, entries)):
            if not passed:
                failed += 1
                print(f"{os.path.relpath(entry['file'], ROOT)}:\n{said}", flush=True)
    print(f"clang-tidy: {len(entries) - failed} of {len(entries)} files without a finding")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
