# SPDX-License-Identifier: MIT
"""Bad input raises exceptions with the library's text."""
import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import BUILD, World

import reckoner
from reckoner import Archetype, _library


def in_new_process(program, **environment):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})


def test_a_missing_library_is_an_import_error():
    done = in_new_process("try:\n import reckoner\nexcept ImportError as e:\n print('caught', e)",
                          RECKONER_LIBRARY="/nowhere/libreckoner.so.2")
    assert "caught cannot load the Reckoner library" in done.stdout and "/nowhere" in done.stdout


def test_an_old_library_is_an_import_error():
    done = in_new_process("try:\n import reckoner\nexcept ImportError as e:\n print('caught', e)",
                          RECKONER_LIBRARY=str(BUILD / "bindings/libold_reckoner.so"))
    assert "caught" in done.stdout and "it has no reckoner_" in done.stdout


def test_a_library_that_is_too_old_is_named_by_its_own_text():
    path = _library._candidates()[0]
    with pytest.raises(reckoner.LibraryError, match="needs version 99.0.0 of the Reckoner library, this is 0.2.0"):
        _library.load(path, "99.0.0")


def test_other_archetypes_are_refused(world):
    with pytest.raises(reckoner.RefusedError, match="archetype"):
        world.join(archetypes=(Archetype("another"),))


def test_bad_settings_raise_with_the_name_of_the_setting():
    with pytest.raises(reckoner.ReckonerError, match="tick_rate_hz"):
        reckoner.Server("127.0.0.1", insecure=True, tick_rate_hz=-1)
    with pytest.raises(reckoner.ReckonerError, match="threshold_m"):
        reckoner.Client("127.0.0.1", 1, insecure=True, archetypes=(Archetype(threshold_m=float("nan")),))
    with pytest.raises(reckoner.ReckonerError, match="archetype"):
        reckoner.Client("127.0.0.1", 1, insecure=True, archetypes=())
    with pytest.raises(TypeError, match="tick_rate"):
        reckoner.Server("127.0.0.1", insecure=True, tick_rate=60)
    with pytest.raises(ValueError, match="1024"):
        reckoner.Client("127.0.0.1", 1, token=b"short")
    with pytest.raises(reckoner.ReckonerError, match="key|insecure"):
        reckoner.Server("127.0.0.1")
    with pytest.raises(reckoner.ReckonerError, match="hexadecimal"):
        reckoner.key_from_text("xyz")


def test_a_taken_port_and_unknown_hosts():
    with reckoner.Server("127.0.0.1", insecure=True) as one:
        with pytest.raises(reckoner.ReckonerError):
            reckoner.Server("127.0.0.1", one.port, insecure=True)
    with reckoner.Client("no.such.host.invalid", 1, insecure=True, reconnects=True) as client:
        for _ in range(600):  # the name is looked up in the background; 30 s
            client.update(reckoner.now())
            if client.status == reckoner.Status.DISCONNECTED:
                break
            client.wait(0.05)
        assert client.status == reckoner.Status.DISCONNECTED
        assert "no.such.host.invalid" in client.refusal


def test_refused_calls_say_why(world):
    with pytest.raises(reckoner.ReckonerError, match="finite"):
        world.server.spawn(reckoner.state(position=(float("nan"), 0, 0)))
    with pytest.raises(reckoner.ReckonerError, match="no such entity"):
        world.server.move(12345, reckoner.state())
    with pytest.raises(reckoner.ReckonerError, match="bytes"):
        world.server.spawn(reckoner.state(), name="x" * 65)
    client = world.join()
    with pytest.raises(reckoner.ReckonerError):
        client.move(5, reckoner.state())
    with pytest.raises(reckoner.ReckonerError):
        client.update(float("nan"))
    with pytest.raises(ValueError):
        world.server.move(1, np.zeros(2, reckoner.STATE))
    with pytest.raises(ValueError):
        world.server.entities_near((1, 2), 3)


def test_every_call_after_close_raises():
    world = World()
    client = world.join()
    world.close()
    world.close()  # does nothing
    now, state = reckoner.now(), reckoner.state()
    arguments = {"entity": 1, "now_s": now, "state": state, "truth": state, "shown": state, "seconds": 0.0, "data": b"x",
                 "token": bytes(1024), "client": 1, "client_id": 1, "centre": (0, 0, 0), "radius_m": 1.0, "route": 1,
                 "field": 0, "value": 1, "frame": 0, "origin": (0, 0, 0), "eye": (0, 0, 0), "points": [[0, 0, 0], [1, 0, 0]],
                 "boardable": True, "relevance": 0, "groups": 1, "owner": 1, "time_s": 0.0, "server_time_s": 0.0, "key": 1,
                 "archetype": 0, "patience_s": 1.0, "tick": 1,
                 "distance_m": 0.0, "speed_mps": 0.0, "point": (0, 0, 0), "paused": True}
    import inspect
    tried = 0
    for handle in (client, world.server):
        assert handle.closed
        for name in dir(handle):
            if name.startswith("_") or name in ("close", "closed"):
                continue
            with pytest.raises(reckoner.ClosedError, match="closed"):
                found = getattr(handle, name)  # a property raises here
                needed = [p.name for p in inspect.signature(found).parameters.values()
                          if p.default is p.empty and p.kind == p.POSITIONAL_OR_KEYWORD]
                result = found(*(arguments[p] for p in needed))
                list(result)  # a generator raises here
            tried += 1
    assert tried > 80
    with pytest.raises(reckoner.ClosedError):
        client.__enter__()


def test_a_missing_harness():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECKONER_HARNESS", "/nowhere/reckoner-harness")
        with pytest.raises(reckoner.HarnessError, match="nowhere"):
            reckoner.replay(scenario="hop")


def test_every_refused_call_says_why():
    with reckoner.Server(host="127.0.0.1", insecure=True) as server:
        for call, why in ((lambda: server.despawn(99), "there is no such entity"),
                          (lambda: server.set_view(7, (0.0, 0.0, 0.0)), "there is no such client"),
                          (lambda: server.state(99), "entity, client, route or field$")):
            with pytest.raises(reckoner.ReckonerError, match=why):
                call()
