# SPDX-License-Identifier: MIT
"""Replays and comparisons of reckoner-harness as numpy arrays."""
from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Any, Sequence, Union

import numpy as np

from ._errors import HarnessError
from ._library import installed
from ._values import Array

Path = Union[str, "os.PathLike[str]"]
Option = Union[str, int, float, bool, "os.PathLike[str]"]


@dataclass(frozen=True)
class Replay:
    figures: dict[str, Any]  #: every figure of the run, for example figures["now_error_m"]["p95"]
    #: A row per picture and visible entity: frame_time_s, id, position, orientation (x, y, z, w), shown_time_s.
    rendered: Array


@dataclass(frozen=True)
class Comparison:
    runs: Array  #: a row per run: trace, network, method, seed and every figure, for example now_error_m_p95
    ratios: list[dict[str, Any]]  #: Reckoner divided by each method, geometric means over the traces

    def table(self, figure: str = "now_error_m_p95") -> tuple[list[str], list[str], Array]:
        """Traces, methods, and a figure for each pair: its mean over networks and seeds."""
        traces = list(dict.fromkeys(self.runs["trace"].tolist()))
        methods = list(dict.fromkeys(self.runs["method"].tolist()))
        cells = [[self.runs[figure][(self.runs["trace"] == trace) & (self.runs["method"] == method)].mean()
                  for method in methods] for trace in traces]
        return traces, methods, np.array(cells)


def replay(trace: Path | None = None, *, scenario: str | None = None, network: str = "intercity",
           **options: Option) -> Replay:
    """Plays a trace (a CSV file) or a built-in scenario through a server, a network and a client, in virtual time.

    Options are those of `reckoner-harness replay`, for example seconds=60, updates_per_second=10, method="snap"."""
    with tempfile.TemporaryDirectory() as folder:
        figures, rendered = pathlib.Path(folder, "figures.json"), pathlib.Path(folder, "rendered.csv")
        _run("replay", *_given("trace", [] if trace is None else [trace]),
             *_given("scenario", [] if scenario is None else [scenario]), *_given("network", [network]),
             *_options(options), "--json", str(figures), "--rendered", str(rendered))
        return Replay(json.loads(figures.read_text()), _rendered(rendered))


def compare(traces: Sequence[Path] = (), *, scenarios: Sequence[str] = (), networks: Sequence[str] = ("intercity",),
            methods: Sequence[str] = (), seeds: Sequence[int] = (), **options: Option) -> Comparison:
    """Compares methods on traces and scenarios. Options are those of `reckoner-harness compare`."""
    listed = {name: ",".join(map(str, values)) for name, values in (("methods", methods), ("seeds", seeds)) if values}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "figures.json")
        _run("compare", *_given("trace", traces), *_given("scenario", scenarios), *_given("network", networks),
             *_options({**listed, **options}), "--json", str(file))
        found = json.loads(file.read_text())
    rows = [_flat(run) for run in found["runs"]]
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: np.array([row.get(name, np.nan) for row in rows]) for name in names}
    runs = np.empty(len(rows), [(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        runs[name] = column
    return Comparison(runs, found["ratios"])


def program() -> str:
    """The path of reckoner-harness: RECKONER_HARNESS; else the one in the wheel or in the install tree; else the one on the
    PATH."""
    inside = pathlib.Path(__file__).parent / "bin" / "reckoner-harness"
    found = os.environ.get("RECKONER_HARNESS") or (
        str(inside) if inside.exists() else installed("PROGRAMS", "reckoner-harness") or shutil.which("reckoner-harness"))
    if not found:
        raise HarnessError("there is no reckoner-harness: install it, or set RECKONER_HARNESS to its path")
    return found


def _run(*arguments: str) -> None:
    try:
        done = subprocess.run([program(), *arguments], capture_output=True, text=True, check=False)
    except OSError as error:
        raise HarnessError(f"cannot run reckoner-harness: {error}") from None
    if done.returncode != 0:
        raise HarnessError(done.stderr.strip() or done.stdout.strip(), done.returncode)


def _given(name: str, values: Sequence[Any]) -> list[str]:
    return [word for value in values for word in (f"--{name}", os.fspath(value))]


def _options(options: dict[str, Option]) -> list[str]:
    words: list[str] = []
    for name, value in options.items():
        if value is False:
            continue
        words.append(f"--{name.replace('_', '-')}")
        if value is not True:
            words.append(str(value))
    return words


def _flat(run: dict[str, Any]) -> dict[str, Any]:
    """Without nested figures: {"now_error_m": {"p95": 1}} is {"now_error_m_p95": 1}."""
    flat: dict[str, Any] = {}
    for name, value in run.items():
        if isinstance(value, dict):
            flat.update({f"{name}_{inner}": number for inner, number in _flat(value).items()})
        elif isinstance(value, (str, int, float)):
            flat[name] = value
    return flat


def _rendered(file: pathlib.Path) -> Array:
    rows = np.genfromtxt(file, delimiter=",", names=True, dtype=None, encoding="utf-8", ndmin=1)
    made = np.empty(len(rows), [("frame_time_s", "f8"), ("id", rows["id"].astype(str).dtype), ("position", "f8", 3),
                                ("orientation", "f4", 4), ("shown_time_s", "f8")])
    for name in ("frame_time_s", "id", "shown_time_s"):
        made[name] = rows[name]
    made["position"] = np.stack([rows[name] for name in ("x", "y", "z")], axis=-1)
    made["orientation"] = np.stack([rows[name] for name in ("qx", "qy", "qz", "qw")], axis=-1)
    return made
