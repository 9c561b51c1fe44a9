# SPDX-License-Identifier: MIT
"""The declarations are those of reckoner.h, and the package uses all of them."""
import pathlib
import re
import subprocess

import numpy as np
from conftest import BUILD

import reckoner
from reckoner._library import FUNCTIONS, ffi


def test_sizes_and_offsets_are_those_of_c():
    printed = subprocess.run([BUILD / "bindings/bindings_layouts"], capture_output=True, text=True, check=True).stdout
    assert len(printed.splitlines()) > 300
    for line in printed.splitlines():
        name, *numbers = line.split()
        struct, _, member = name.partition(".")
        if member:
            field = dict(ffi.typeof(struct).fields)[member]
            assert [field.offset, ffi.sizeof(field.type)] == list(map(int, numbers)), line
        else:
            assert [ffi.sizeof(struct)] == list(map(int, numbers)), line
            members = re.findall(rf"^{struct}\.(\w+) ", printed, re.M)
            assert [field for field, _ in ffi.typeof(struct).fields] == members


def test_numpy_types_have_the_layout_of_c():
    for dtype, struct in ((reckoner.STATE, "reckoner_state"), (reckoner.SHOWN, "reckoner_shown"),
                          (reckoner.SEEN, "reckoner_seen")):
        assert dtype.itemsize == ffi.sizeof(struct)
        for name, field in ffi.typeof(struct).fields:
            assert dtype.fields[name][1] == field.offset
            assert dtype.fields[name][0].itemsize == ffi.sizeof(field.type)


def test_every_function_is_used():
    # The package has its own: STATE needs no init, an anticipation of 0 s is correct(), shown_poses_into() replaces shown_poses().
    # A Python allocator makes no sense.
    without = {"reckoner_state_init", "reckoner_client_correct", "reckoner_client_shown_poses", "reckoner_set_allocator"}
    sources = "".join(file.read_text() for file in pathlib.Path(reckoner.__file__).parent.glob("*.py")
                      if file.name != "_generated.py")
    used = set(re.findall(r"lib(?:rary)?\.(reckoner_\w+)", sources))
    used |= {f"{struct}_init" for struct in re.findall(r'(?:sized|with_settings)\("(\w+)"', sources)}
    assert set(FUNCTIONS) - used == without
    assert len(FUNCTIONS) > 110


def test_enums_have_the_values_of_c():
    assert reckoner.ResultCode.ERROR_INTERNAL == -8
    assert reckoner.ClientEventKind.PREDICTION_FAILED == 13
    assert reckoner.Mode.ADAPTIVE == 1
    assert reckoner.Mode.AHEAD == 3
    assert reckoner.BlendProfile.GENTLE == 3
    assert np.dtype("u8") == reckoner.SHOWN.fields["entity"][0]
