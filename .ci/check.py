#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the checks that a change must pass, and says where the time went. `./dev check` starts it.

check.py                   every check, the tests last
check.py --changed [BASE]  only the checks that the changes since the merge base with BASE can affect
check.py --times           the table of the last run

Every step is a command of ./dev. ./dev reports the seconds for installing packages and for compiling; the rest of a
step is running. `.ci/budget` has the minutes that each step may take."""
import dataclasses
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORD = ROOT / "build" / "check" / "times.json"
CLOCK = ROOT / "build" / "check" / "clock"  # ./dev appends "installing|compiling milliseconds"
BUDGET = ROOT / ".ci" / "budget"

# The steps in the order that finds mistakes soonest. The tests are last, so that the output ends with their summary.
STEPS = {
    "install": ["install"],
    "format": ["format", "--check"],
    "docs": ["docs"],
    "golden": ["golden"],
    "lint": ["lint"],
    "portable": ["portable"],
    "bindings": ["bindings"],
    "wasm": ["wasm"],
    "npm": ["npm", "--check"],
    "playground": ["playground", "--check"],
    "package": ["package"],
    "build-threads": ["build", "--threads"],
    "threads": ["test", "--threads"],
    "sanitize": ["test", "--sanitize"],
    "test": ["test"],
}
EVERYTHING = list(STEPS)
PRESETS = {"tsan": "threads", "asan": "sanitize"}  # the build folders of steps that run tests
THREADS = ["build-threads", "threads"]
CODE = ["format", "docs", "lint", "package", "bindings", "wasm", "npm", "playground", *THREADS, "sanitize", "test"]

# Which steps a changed file can affect. The first pattern that matches decides. A file without a pattern affects every
# step. "*" also matches "/". A step may have arguments. Every document affects the formats and the links, too.
AFFECTS = [
    ("bindings/lua/*", ["bindings lua"]),
    ("examples/love/*", ["bindings lua"]),
    ("bindings/python/*", ["bindings python"]),
    ("examples/*.py", ["bindings python", "test consumer"]),
    ("bindings/unity/*", ["bindings csharp"]),
    ("bindings/web/src/wasi.ts", ["npm", "playground"]),
    ("bindings/web/*", ["npm"]),
    ("examples/web/*", ["npm"]),
    ("bindings/*", ["format", "bindings", "npm", "sanitize", "test"]),
    ("docs/Doxyfile", ["docs"]),
    ("docs/site/*", ["docs"]),
    ("docs/tutorial/*", ["docs", "test consumer programs"]),
    ("examples/tutorial/*", ["format", "docs", "test consumer programs"]),
    ("docs/*", ["docs --links"]),
    ("*.md", []),
    ("LICENSE", ["package"]),
    (".ci/budget", []),
    ("deploy/*", ["package", "test programs"]),
    ("playground/web/*", ["playground"]),
    ("tests/playground/*.mjs", ["wasm", "playground"]),
    ("tests/golden/*", ["format", "golden", "wasm", "test"]),
    ("tests/portable/*", ["portable"]),
    ("tests/support/*", ["format", "portable", *THREADS, "sanitize", "test"]),
    ("tests/reckoning/*", ["format", "portable", "golden", "wasm", "sanitize", "test"]),
    ("tests/consumer/*", ["format", "test consumer"]),
    ("tests/fuzz/*", ["format", "sanitize", "test fuzz net"]),
    ("tests/include_rules/*", ["format", "docs --links", "test include_rules"]),
    ("tests/*/*", ["format", *THREADS, "sanitize", "test"]),
    ("bench/*", ["format", "lint", "test"]),
    ("examples/*", ["format", "lint", "bindings", "sanitize", "test"]),
    ("playground/*", ["format", "lint", "wasm", "playground", "sanitize", "test"]),
    ("scenario/*", [*CODE, "portable"]),
    ("harness/*", CODE),
    ("programs/*", CODE),
    ("cluster/*", CODE),
    ("web/*", CODE),
    ("capi/*", CODE),
    ("server/*", CODE),
    ("client/*", CODE),
    ("net/*", [*CODE, "golden"]),
    ("reckoning/*", [*CODE, "golden", "portable"]),
]


@dataclasses.dataclass
class Times:
    """The seconds of one step."""

    installing: float = 0.0
    compiling: float = 0.0
    total: float = 0.0

    @property
    def running(self):
        return max(0.0, self.total - self.installing - self.compiling)


# ---- what to run


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, text=True, capture_output=True, check=False)


def merge_base(given):
    """The commit where this branch began, or HEAD where there is no other branch: then only changes that are not
    committed count."""
    for candidate in [given] if given else ["origin/HEAD", "origin/main", "main"]:
        found = git("merge-base", "HEAD", candidate)
        if found.returncode == 0:
            return found.stdout.strip()
    if given:
        sys.exit(f"check: {given} is no commit of this history")
    return "HEAD"


def changed_files(base):
    """The files that differ from `base`, in commits or not committed, and new files. A renamed file counts under both
    names."""
    paths = set()
    for command in (["diff", "--no-renames", "--name-only", "-z", base], ["ls-files", "-z", "--others", "--exclude-standard"]):
        listed = git(*command)
        if listed.returncode:
            sys.exit(f"check: git {command[0]}: {listed.stderr.strip()}")
        paths |= set(filter(None, listed.stdout.split("\0")))
    return sorted(paths)


def affected(path):
    """The steps that a change of this file can affect, each with its arguments."""
    steps = next((steps for pattern, steps in AFFECTS if fnmatch.fnmatchcase(path, pattern)), EVERYTHING)
    return [*steps, "format", "docs --links"] if path.endswith(".md") else steps


def commands_for(paths):
    """The steps for these changed files: {name: the command of ./dev}, in the order of STEPS."""
    wanted = {}
    for path in paths:
        for step in affected(path):
            name, *arguments = step.split()
            wanted.setdefault(name, set()).add(tuple(arguments))
    commands = {}
    for name, whole in STEPS.items():
        if name not in wanted:
            continue
        if () in wanted[name]:
            commands[name] = whole
        else:
            commands[name] = [whole[0], *sorted({argument for each in wanted[name] for argument in each})]
    return commands


# ---- running


def pass_on(output, before_summary):
    """Prints the output of the tests, and calls `before_summary` with the seconds of each test just before the summary
    of the test runner."""
    tests = []
    for line in output:
        if finished := re.match(r" *\d+/\d+ Test +#\d+: (\S+) .* ([\d.]+) sec", line):
            tests.append((float(finished[2]), finished[1]))
        if before_summary and re.match(r"\d+% tests passed", line):
            before_summary(tests)
            before_summary = None
        sys.stdout.write(line)
        sys.stdout.flush()


def run(name, command, started, before_summary=None):
    """Runs one command of ./dev. Returns its exit code and its times."""
    print(f"\n==== ./dev {' '.join(command)}, {time.monotonic() - started:.0f} s after the start", flush=True)
    CLOCK.write_text("")
    began = time.monotonic()

    def times_so_far():
        times = Times(total=time.monotonic() - began)
        for line in CLOCK.read_text().splitlines():
            kind, milliseconds = line.split()
            setattr(times, kind, getattr(times, kind) + int(milliseconds) / 1000.0)
        return times

    report = (lambda tests: before_summary(name, times_so_far(), tests)) if before_summary else None
    environment = os.environ | {"RECKONER_TIMES": str(CLOCK)}
    with subprocess.Popen(
        [str(ROOT / "dev"), *command], cwd=ROOT, env=environment, text=True, errors="replace",
        stdout=subprocess.PIPE if report else None,
    ) as process:
        if report:
            pass_on(process.stdout, report)
        process.wait()
    return process.returncode, times_so_far()


# ---- what it cost


def budgets():
    """Minutes for each step. A line of the file is "step minutes", and "#" begins a comment."""
    lines = [line.split("#")[0].split() for line in BUDGET.read_text().splitlines()]
    return {words[0]: float(words[1]) for words in lines if words}


def over_budget(name, times):
    """A line that cannot be overlooked, or an empty text."""
    allowed = budgets().get(name)
    if allowed is None:
        return f"!!!! {name} has no line in .ci/budget"
    minutes = times.total / 60.0
    if minutes <= allowed:
        return ""
    return f"!!!! {name.upper()} IS ABOVE ITS BUDGET: {minutes:.1f} minutes, allowed {allowed:g} (.ci/budget) " + "!" * 20


def table(steps):
    rows = [f"{'step':<15}{'installing':>12}{'compiling':>12}{'running':>12}{'seconds':>12}{'budget':>12}"]
    total = Times()
    allowed = budgets()

    def row(name, times, budget):
        figures = (times.installing, times.compiling, times.running, times.total, budget)
        rows.append(f"{name:<15}" + "".join(f"{figure:>12.0f}" for figure in figures))

    for name, times in steps.items():
        row(name, times, 60.0 * allowed.get(name, 0.0))
        total.installing += times.installing
        total.compiling += times.compiling
        total.total += times.total
    row("sum", total, 60.0 * sum(allowed.get(name, 0.0) for name in steps))
    rows += [line for line in (over_budget(name, times) for name, times in steps.items()) if line]
    return "\n".join(rows)


def test_cases(preset):
    """The test cases of the last run of a preset: [(seconds, name, result)]. CTest runs a suite of GoogleTest as one test."""
    report = ROOT / "build" / preset / "tests.xml"
    if not report.exists():
        return []
    cases = []
    for test in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
        name = test.get("name")
        output = test.findtext("system-out") or ""
        inside = re.findall(r"\[ +(OK|FAILED|SKIPPED) +\] (\S+?),? .*?\((\d+) ms\)", output)
        program = name.split(".")[0] + (".ipv6" if ".ipv6" in name else "")
        cases += [(int(ms) / 1000.0, f"{program}: {case}", result) for result, case, ms in inside] or [
            (float(test.get("time")), name, "SKIPPED" if test.find("skipped") is not None else "OK")
        ]
    return cases


def slowest(tests, count=20):
    return "\n".join(f"{seconds:>9.1f} s  {name}" for seconds, name in sorted(tests, reverse=True)[:count])


def summary_of(preset):
    """The number of test cases, those that were skipped, and the slowest."""
    cases = test_cases(preset)
    skipped = [name for _, name, result in cases if result == "SKIPPED"]
    if not cases:
        return ""
    return (f"{len(cases)} test cases in build/{preset}, {len(skipped)} skipped ({', '.join(skipped)}); the slowest:\n"
            + slowest([(seconds, name) for seconds, name, _ in cases]))


def save(steps):
    RECORD.write_text(json.dumps({name: dataclasses.asdict(times) for name, times in steps.items()}, indent=1))


def print_costs(steps, presets):
    print(f"\n==== what it cost, in seconds\n{table(steps)}")
    for preset in presets:
        if text := summary_of(preset):
            print(f"\n{text}")
    print(flush=True)


# ---- the command line


def show_last_times():
    if not RECORD.exists():
        sys.exit("check: no run yet: ./dev check")
    print_costs({name: Times(**times) for name, times in json.loads(RECORD.read_text()).items()},
                [*PRESETS, "release"])


def check(commands):
    RECORD.parent.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    steps = {}

    def costs_of_the_tests(name, times, tests):
        print(f"{slowest(tests)}\nthe slowest of {len(tests)} tests; each suite is one\n{over_budget(name, times)}")

    for name, command in commands.items():
        last = name == "test"
        if last:
            print_costs(steps, [preset for preset, step in PRESETS.items() if step in steps])
        code, steps[name] = run(name, command, started, costs_of_the_tests if last else None)
        save(steps)
        if code:
            if not last:
                print_costs(steps, [])
            print(f"check: ./dev {' '.join(command)} failed", flush=True)
            return code
    if "test" not in steps:
        print_costs(steps, [])
    return 0


def main(arguments):
    if arguments == ["--times"]:
        show_last_times()
        return 0
    if not arguments:
        return check(STEPS)
    if arguments[0] == "--changed" and len(arguments) <= 2:
        base = merge_base(arguments[1] if len(arguments) == 2 else None)
        paths = changed_files(base)
        commands = commands_for(paths)
        print(f"{len(paths)} files changed since {base[:12]}: {', '.join(commands) or 'nothing to check'}", flush=True)
        return check(commands)
    sys.exit("check takes no argument but --changed [COMMIT] and --times")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
