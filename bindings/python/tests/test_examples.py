# SPDX-License-Identifier: MIT
"""The programs of the README, the notebook and the bots run."""
import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT

import reckoner

PYTHON = ROOT / "bindings/python"


def start(program, *arguments):
    return subprocess.Popen([sys.executable, "-u", program, *arguments], stdout=subprocess.PIPE, text=True)


def stop(process):
    process.kill()
    process.wait()
    process.stdout.close()


def free_port():
    with reckoner.Server("127.0.0.1", insecure=True) as server:
        return server.port


def test_first_steps_take_25_lines_and_show_a_moving_entity(tmp_path):
    server_text, client_text = re.findall(r"```python\n(.*?)```", (PYTHON / "README.md").read_text(), re.S)[:2]
    assert len(server_text.splitlines()) <= 25 and len(client_text.splitlines()) <= 25
    port = str(free_port())
    for name, text in (("server.py", server_text), ("client.py", client_text)):
        (tmp_path / name).write_text(text.replace("26000", port))
    server, client = start(tmp_path / "server.py"), start(tmp_path / "client.py")
    try:
        seen = set()
        for line in client.stdout:
            if position := re.match(r"\[\[\s*(\S+)\s+(\S+)\s+(\S+)\s*\]\]", line):
                seen.add(position[1])
            if len(seen) > 20:
                break
        assert len(seen) > 20
    finally:
        stop(client)
        stop(server)


def test_experiments_of_the_readme():
    text = re.findall(r"```python\n(.*?)```", (PYTHON / "README.md").read_text(), re.S)[2]
    names: dict = {}
    exec(text.replace("seconds=20", "seconds=5"), names)
    assert names["run"].rendered["position"].shape[1] == 3
    assert names["traces"] == ["crowd", "hop"] and names["methods"] == ["reckoner", "snap"]
    assert names["p95"].shape == (2, 2) and (names["p95"] > 0).all()


def test_replay_agrees_with_the_harness():
    run = reckoner.replay(scenario="orbit", network="lan", seconds=5, entities=3)
    assert run.figures["network"] == "lan" and run.figures["now_error_m"]["p95"] < 0.2
    assert len(set(run.rendered["id"])) == 3
    one = run.rendered[run.rendered["id"] == run.rendered["id"][0]]
    assert (np.diff(one["frame_time_s"]) > 0).all()
    np.testing.assert_allclose(np.linalg.norm(one["orientation"], axis=1), 1.0, atol=1e-4)
    np.testing.assert_allclose(one["shown_time_s"], one["frame_time_s"], atol=0.05)
    with pytest.raises(reckoner.HarnessError, match="nowhere.csv"):
        reckoner.replay("nowhere.csv")
    with pytest.raises(reckoner.HarnessError, match="no-such-option"):
        reckoner.replay(scenario="orbit", no_such_option=1)


def test_comparison_has_a_row_for_each_run():
    found = reckoner.compare(scenarios=["hop"], networks=["lan", "intercity"], methods=["reckoner", "snap"], seeds=[1, 2],
                             seconds=5, updates_per_second=10)
    assert len(found.runs) == 2 * 2 * 2
    assert set(found.runs["network"]) == {"lan", "intercity"} and set(found.runs["seed"]) == {1, 2}
    assert np.isfinite(found.runs["velocity_step_mps_max"]).all() and found.ratios


def test_the_notebook_draws_the_table(tmp_path, monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    monkeypatch.setenv("RECKONER_NOTEBOOK_SECONDS", "4")
    monkeypatch.setattr(pyplot, "show", lambda: pyplot.savefig(tmp_path / "table.png"))
    notebook = json.loads((PYTHON / "examples/readme_table.ipynb").read_text())
    names: dict = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    assert names["p95_m"].shape == (3, 4) and (names["p95_m"] > 0).all()
    assert (tmp_path / "table.png").stat().st_size > 5000


def test_a_hundred_bots_in_one_process():
    server = start(PYTHON / "examples/bots.py", "serve", "0")
    try:
        port = re.search(r"\d+", server.stdout.readline())[0]
        done = subprocess.run([sys.executable, PYTHON / "examples/bots.py", "127.0.0.1", port, "--seconds", "2"],
                              capture_output=True, text=True, timeout=200, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "100 bots" in done.stdout and "0 without an avatar" in done.stdout
        print(done.stdout)
    finally:
        stop(server)


def test_the_package_is_typed():
    package = pathlib.Path(reckoner.__file__).parent
    assert (package / "py.typed").exists()
    for name in reckoner.__all__:
        assert hasattr(reckoner, name)
    if os.environ.get("RECKONER_WHEEL"):
        assert (package / "lib/libreckoner.so.2").exists() and (package / "bin/reckoner-harness").exists()
        assert "RECKONER_LIBRARY" not in os.environ
