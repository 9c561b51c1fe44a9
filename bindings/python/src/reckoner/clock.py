# SPDX-License-Identifier: MIT
"""Game time, for slow motion and pauses; states in moving frames."""
from __future__ import annotations

from ._library import check, ffi, lib
from ._values import Array, new_state, state_pointer


class GameClock:
    """Game time as a function of real time. Pass game time instead of real time to servers and clients, and change the
    scale on both at the same server time."""

    def __init__(self, real_s: float, game_s: float = 0.0) -> None:
        self._c = ffi.new("reckoner_clock*")
        lib.reckoner_clock_init(self._c, real_s, game_s)

    def set_scale(self, scale: float, real_s: float, ease_s: float = 0.25) -> None:
        """Changes game seconds per real second, 0 to 100, linearly during ease_s."""
        check(lib.reckoner_clock_set_scale(self._c, scale, real_s, ease_s))

    def at(self, real_s: float) -> float:
        return float(lib.reckoner_clock_at(self._c, real_s))

    def scale_at(self, real_s: float) -> float:
        return float(lib.reckoner_clock_scale_at(self._c, real_s))

    def real_time_of(self, game_s: float) -> float:
        """Infinite if game time stops before."""
        return float(lib.reckoner_clock_real_time_of(self._c, game_s))


def out_of_frame(frame: Array, local: Array) -> Array:
    """A state in coordinates of a moving frame, in those in which the frame's own state is given."""
    made, pointer = new_state()
    lib.reckoner_out_of_frame(state_pointer(frame), state_pointer(local), pointer)
    return made


def into_frame(frame: Array, outer: Array) -> Array:
    """The inverse of out_of_frame()."""
    made, pointer = new_state()
    lib.reckoner_into_frame(state_pointer(frame), state_pointer(outer), pointer)
    return made
