# SPDX-License-Identifier: MIT
"""Archetypes: what server and clients agree on about each kind of entity."""
from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Callable, Sequence, Union

from ._errors import ReckonerError
from ._generated import FloorKind, ValueType, VelocitySource
from ._library import ffi, lib, text
from ._values import FieldValue, set_value


@dataclass(frozen=True)
class Field:
    """A value that every entity of an archetype has besides its motion. None: the library's default."""

    name: str
    type: ValueType = ValueType.INTEGER
    least: float | None = None  #: smallest value
    most: float | None = None  #: largest value
    step: float | None = None  #: both ends round a real value to this step
    most_bytes: int | None = None  #: largest size of a blob
    initial: FieldValue | None = None

    def _fill(self, spec: Any, keep: list[Any]) -> None:
        name = ffi.new("char[]", self.name.encode())
        keep.append(name)
        spec.name, spec.type = name, self.type
        kind = "integer" if self.type == ValueType.INTEGER else "real"
        for end, value in (("least", self.least), ("most", self.most)):
            if value is not None:
                setattr(spec, f"{kind}_{end}", int(value) if kind == "integer" else float(value))
        if self.step is not None:
            spec.real_step = self.step
        if self.most_bytes is not None:
            spec.most_bytes = self.most_bytes
        if self.initial is not None:
            set_value(spec.initial, self.initial)


@dataclass(frozen=True)
class Plane:
    """Ground: all points whose coordinate along `up` is `height_m`."""

    height_m: float = 0.0
    up: Sequence[float] = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class WallBox:
    """A solid box."""

    centre: Sequence[float] = (0.0, 0.0, 0.0)
    half_size: Sequence[float] = (0.5, 0.5, 0.5)  #: half of the edges along the box's own axes
    orientation: Sequence[float] = (0.0, 0.0, 0.0, 1.0)  #: x, y, z, w: box to world


@dataclass(frozen=True)
class Archetype:
    """A kind of entity, the same in the same order on the server and on every client. None: the library's default.

    `floor` is a Plane, or a function from (x, y, z) to the height of the ground there. The library calls it for every
    shown entity in every picture.

    `wall_reach` is a function from two points to the point that an entity reaches if it moves straight from the first to
    the second, for obstacles that are no boxes. It is called as often as a `floor`."""

    name: str = "entity"
    fields: Sequence[Field] = ()
    threshold_m: float | None = None  #: largest error of the predicted position before the server publishes
    threshold_rad: float | None = None
    max_speed_mps: float | None = None  #: the server refuses faster states
    world_size_m: float | None = None  #: the server refuses states further from the origin on any axis
    has_orientation: bool = True  #: False: the orientation is never sent
    never_reverses: bool = False  #: True: braking entities come to rest, as cars do
    floor: Union[Plane, Callable[[float, float, float], float], None] = None
    floor_up: Sequence[float] = (0.0, 0.0, 1.0)  #: of a floor that is a function
    walls: Sequence[WallBox] = ()  #: obstacles, behind which entities are never shown
    wall_margin_m: float = 0.0  #: the distance that positions keep from the walls
    wall_reach: Callable[[Sequence[float], Sequence[float]], Sequence[float]] | None = None
    velocity: VelocitySource = VelocitySource.AUTOMATIC  #: where velocities come from

    def field(self, name: str) -> int:
        """The number of a field, for Server.set_field() and Client.field(). Look names up once, at the start. Raises
        ReckonerError for an unknown name: the message lists the fields, the most similar one first."""
        return _find([self], lambda array, _, *rest: lib.reckoner_find_field(array, *rest), name)

    def _fill(self, to: Any, keep: list[Any]) -> None:
        name = ffi.new("char[]", self.name.encode())
        keep.append(name)
        to.name = name
        if self.fields:
            specs = ffi.new("reckoner_field_spec[]", len(self.fields))
            keep.append(specs)
            for i, field in enumerate(self.fields):
                lib.reckoner_field_spec_init(ffi.addressof(specs, i), ffi.sizeof("reckoner_field_spec"))
                field._fill(specs[i], keep)
            to.fields, to.field_count = specs, len(self.fields)
        for setting in ("threshold_m", "threshold_rad", "max_speed_mps", "world_size_m"):
            if (value := getattr(self, setting)) is not None:
                setattr(to, setting, value)
        to.has_orientation, to.never_reverses = self.has_orientation, self.never_reverses
        if isinstance(self.floor, Plane):
            to.floor, to.floor_height_m, to.floor_up = FloorKind.PLANE, self.floor.height_m, list(self.floor.up)
        elif self.floor is not None:
            height = self.floor
            to.floor, to.floor_up = FloorKind.TERRAIN, list(self.floor_up)
            function = ffi.callback("double(void*, const double*)", lambda _, p: height(p[0], p[1], p[2]))
            keep.append(function)
            to.floor_at = function
        to.velocity, to.wall_margin_m = self.velocity, self.wall_margin_m
        if self.walls:
            boxes = ffi.new("reckoner_wall_box[]", [(list(w.centre), list(w.half_size), list(w.orientation))
                                                    for w in self.walls])
            keep.append(boxes)
            to.wall_boxes, to.wall_count = boxes, len(self.walls)
        if self.wall_reach is not None:
            reach = self.wall_reach

            def reached(_: Any, start: Any, end: Any, out: Any) -> None:
                out[0:3] = [float(x) for x in reach(list(start[0:3]), list(end[0:3]))]

            function = ffi.callback("void(void*, const double*, const double*, double*)", reached)
            keep.append(function)
            to.wall_reach = function


def find_archetype(archetypes: Sequence[Archetype], name: str) -> int:
    """The number of the archetype with this name, for Server.spawn(). Look names up once, at the start. Raises
    ReckonerError for an unknown name: the message lists the archetypes, the most similar one first."""
    return _find(archetypes, lib.reckoner_find_archetype, name)


def _find(archetypes: Sequence[Archetype], find: Callable[..., int], name: str) -> int:
    keep: list[Any] = []
    config = SimpleNamespace()
    fill_archetypes(config, archetypes, keep)
    index, why = ffi.new("uint32_t*"), ffi.new("char[1000]")
    result = find(config.archetypes, config.archetype_count, name.encode(), index, why, len(why))
    if result < 0:
        raise ReckonerError(text(why) or text(lib.reckoner_error_text(result)), result)
    return int(index[0])


def fill_archetypes(config: Any, archetypes: Sequence[Archetype], keep: list[Any]) -> None:
    """Sets the archetypes of a configuration. `keep` receives what must live as long as the client or server."""
    array = ffi.new("reckoner_archetype[]", max(1, len(archetypes)))
    keep.append(array)
    for i, archetype in enumerate(archetypes):
        lib.reckoner_archetype_init(ffi.addressof(array, i), ffi.sizeof("reckoner_archetype"))
        archetype._fill(array[i], keep)
    config.archetypes, config.archetype_count = array, len(archetypes)
