# SPDX-License-Identifier: MIT
"""Plain values: states as numpy arrays, field values, structs as dictionaries."""
from __future__ import annotations

import sys
import time
from typing import Any, Sequence, Union

import numpy as np

from ._generated import ValueType
from ._library import ffi, sized

Entity = int  #: the id of an entity; 0: none
FieldValue = Union[bool, int, float, bytes, str]
Array = Any  #: numpy.ndarray; numpy 1.24's own hint cannot describe structured arrays

_FORMATS = {"double": "f8", "float": "f4", "uint64_t": "u8", "int64_t": "i8", "uint32_t": "u4", "int32_t": "i4",
            "uint16_t": "u2", "uint8_t": "u1", "size_t": "u8"}


def _dtype(ctype: Any) -> np.dtype:
    """The numpy type of a C type, with the same offsets."""
    if ctype.kind == "array":
        return np.dtype((_dtype(ctype.item), (ctype.length,)))
    if ctype.kind != "struct":
        return np.dtype(_FORMATS[ctype.cname])
    return np.dtype({"names": [name for name, _ in ctype.fields], "itemsize": ffi.sizeof(ctype),
                     "formats": [_dtype(field.type) for _, field in ctype.fields],
                     "offsets": [field.offset for _, field in ctype.fields]})


#: Position (m), velocity (m/s), acceleration, orientation (x, y, z, w) and angular velocity (rad/s) at one instant.
STATE = _dtype(ffi.typeof("reckoner_state"))
#: What Client.shown() returns for each entity.
SHOWN = _dtype(ffi.typeof("reckoner_shown"))
#: What Server.rewind() returns for each entity: its id, and the pose that a client showed.
SEEN = _dtype(ffi.typeof("reckoner_seen"))


def state(position: Sequence[float] = (0.0, 0.0, 0.0), velocity: Sequence[float] = (0.0, 0.0, 0.0),
          acceleration: Sequence[float] = (0.0, 0.0, 0.0), orientation: Sequence[float] = (0.0, 0.0, 0.0, 1.0),
          angular_velocity: Sequence[float] = (0.0, 0.0, 0.0)) -> Array:
    """A state, an array of type STATE without dimensions: `state(position=(1, 2, 3))["position"]`."""
    made = np.empty((), STATE)
    made[()] = (tuple(position), tuple(velocity), tuple(acceleration), tuple(orientation), tuple(angular_velocity))
    return made


def state_pointer(given: Array) -> Any:
    """A pointer to a state, which keeps the array alive."""
    array = np.ascontiguousarray(given, STATE)
    if array.size != 1:
        raise ValueError(f"one state is needed, not {array.size}")
    return ffi.from_buffer("reckoner_state[1]", array)


def new_state() -> tuple[Array, Any]:
    """An empty state and a pointer to it."""
    made = np.empty((), STATE)
    return made, ffi.from_buffer("reckoner_state[1]", made)


def state_of(given: Any) -> Array:
    """A copy of a reckoner_state."""
    return np.frombuffer(bytes(ffi.buffer(ffi.addressof(given))), STATE)[0]


def bytes_at(pointer: Any, size: int) -> bytes:
    """A copy of bytes of the library; the pointer may be null if the size is 0."""
    return bytes(ffi.buffer(pointer, size)) if size else b""


def vector(values: Sequence[float]) -> Any:
    numbers = [float(value) for value in values]
    if len(numbers) != 3:
        raise ValueError(f"three numbers are needed, not {len(numbers)}")
    return ffi.new("double[3]", numbers)


def optional(number: float | None) -> Any:
    return ffi.NULL if number is None else ffi.new("double*", number)


def set_value(target: Any, value: FieldValue) -> None:
    """Fills a reckoner_value. The Python type decides its type: a real field needs 3.0, not 3."""
    if isinstance(value, (bool, np.bool_)):
        target.type, target.integer = ValueType.BOOLEAN, int(value)
    elif isinstance(value, (int, np.integer)):
        target.type, target.integer = ValueType.INTEGER, int(value)
    elif isinstance(value, (float, np.floating)):
        target.type, target.real = ValueType.REAL, float(value)
    else:
        data = value.encode() if isinstance(value, str) else bytes(value)
        if len(data) > len(target.blob):
            raise ValueError(f"a blob has at most {len(target.blob)} bytes, not {len(data)}")
        target.type, target.blob_size = ValueType.BLOB, len(data)
        ffi.memmove(target.blob, data, len(data))


def get_value(value: Any) -> FieldValue:
    if value.type == ValueType.BOOLEAN:
        return bool(value.integer)
    if value.type == ValueType.INTEGER:
        return int(value.integer)
    if value.type == ValueType.REAL:
        return float(value.real)
    return bytes(ffi.buffer(value.blob, value.blob_size))


def as_dict(struct: Any) -> dict[str, Any]:
    """The members of a C struct. States become arrays of type STATE; texts and sizes are left out."""
    members: dict[str, Any] = {}
    for name, field in ffi.typeof(struct[0]).fields:
        if name == "struct_size" or name.startswith("reserved") or field.type.kind == "pointer":
            continue
        value = getattr(struct, name)
        if field.type.kind == "primitive":
            members[name] = value
        else:
            members[name] = np.frombuffer(bytes(ffi.buffer(ffi.addressof(struct, name))), _dtype(field.type))[0]
    return members


def fill(struct: Any, settings: dict[str, Any], handled: Sequence[str] = ()) -> None:
    """Sets numeric members of a C struct by name. Raises TypeError for other names."""
    for name, value in settings.items():
        field = dict(ffi.typeof(struct[0]).fields).get(name)
        if field is None or name in handled or name == "struct_size" or name.startswith("reserved"):
            raise TypeError(f"there is no setting {name!r}")
        if field.type.kind == "array":
            for i, item in enumerate(value):
                getattr(struct, name)[i] = item
        elif field.type.kind == "primitive":
            setattr(struct, name, value)
        else:
            raise TypeError(f"{name!r} cannot be set by name")


def with_settings(struct: str, settings: dict[str, Any]) -> Any:
    made = sized(struct)
    fill(made, settings)
    return made


_START_S = time.monotonic()


def now() -> float:
    """Seconds since this package was imported, by the machine's monotonic clock: the usual time for all calls."""
    return time.monotonic() - _START_S


class FrameArrays:
    """Arrays into which the library writes the poses of a picture. They are used again for the next picture only if
    nobody keeps a reference to them or to a view of them, so that a kept array never changes."""

    def __init__(self, capacity: int, columns: Sequence[tuple[str, Any, tuple[int, ...]]]) -> None:
        self.capacity = capacity
        self.arrays = [np.zeros((capacity, *shape), kind) for _, kind, shape in columns]
        self.pointers = [ffi.from_buffer(ctype, array) for (ctype, _, _), array in zip(columns, self.arrays)]
        self._idle = self._references()

    def _references(self) -> list[int]:
        return [sys.getrefcount(array) for array in self.arrays]

    def usable(self, capacity: int) -> bool:
        return self.capacity >= capacity and self._references() == self._idle
