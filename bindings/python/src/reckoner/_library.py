# SPDX-License-Identifier: MIT
"""Finds and loads the C library."""
from __future__ import annotations

import importlib
import os
import pathlib
import re
import sys
from collections.abc import Callable
from typing import Any

import cffi

from ._errors import LibraryError, ReckonerError
from ._generated import CDEF, VERSION, ResultCode

ffi = cffi.FFI()
ffi.cdef(CDEF)

FUNCTIONS = re.findall(r"\b(reckoner_\w+)\((?!\*)", CDEF)
_NAMES = {"win32": "reckoner.dll", "darwin": "libreckoner.2.dylib"}


def installed(which: str, name: str) -> str | None:
    """The path of a file in the install tree of this package (cmake --install). `which`: LIBRARIES or PROGRAMS."""
    try:
        where = importlib.import_module("._installed", __package__)
    except ModuleNotFoundError:
        return None
    path = pathlib.Path(__file__).resolve().parent / getattr(where, which) / name
    return str(path) if path.exists() else None


def _candidates() -> list[str]:
    """RECKONER_LIBRARY; else the library in the wheel or in the install tree; else the one of the system."""
    if chosen := os.environ.get("RECKONER_LIBRARY"):
        return [chosen]
    name = _NAMES.get(sys.platform, "libreckoner.so.2")
    inside = pathlib.Path(__file__).parent / "lib" / name
    return [str(inside) if inside.exists() else installed("LIBRARIES", name) or name]


def text(pointer: Any) -> str:
    """The text of the library, "" for null. Names in it need not be UTF-8."""
    return ffi.string(pointer).decode(errors="replace") if pointer != ffi.NULL else ""


def load(path: str, needs: str = VERSION) -> Any:
    """The library at this path. Raises LibraryError if it is missing or older than `needs`."""
    try:
        library = ffi.dlopen(path)
    except OSError as error:
        raise LibraryError(f"cannot load the Reckoner library: {error}") from None
    for name in FUNCTIONS:  # before any call: an unknown library may not even have a version
        if not hasattr(library, name):
            raise LibraryError(f"{path} is not version {needs} of the Reckoner library: it has no {name}()")
    why = ffi.new("char[]", 200)
    result = library.reckoner_check_version(needs.encode(), why, len(why))
    if result != 0:
        raise LibraryError(f"{path}: {text(why)}", result)
    return library


lib = load(_candidates()[0])


def error_text(result: int) -> str:
    return text(lib.reckoner_error_text(result))


def check(result: int, detail: str = "") -> bool:
    """True for RECKONER_OK, False for RECKONER_NOTHING; raises ReckonerError for errors."""
    if result < 0:
        raise ReckonerError(f"{error_text(result)}: {detail}" if detail else error_text(result), result)
    return result == 0


def check_call(result: int, call_error: Callable[[], int]) -> bool:
    """check(), with the reason that `call_error` returns for the last call with a server or a client."""
    explained = result in (ResultCode.ERROR_UNKNOWN, ResultCode.ERROR_REFUSED)
    failure = call_error() if explained else 0
    return check(result, text(lib.reckoner_call_error_text(failure)) if failure else "")


def sized(struct: str) -> Any:
    """A new struct with its struct_size, and with the defaults if it has an _init function."""
    new = ffi.new(f"{struct}*")
    if init := getattr(lib, f"{struct}_init", None):
        init(new, ffi.sizeof(struct))
    else:
        new.struct_size = ffi.sizeof(struct)
    return new
