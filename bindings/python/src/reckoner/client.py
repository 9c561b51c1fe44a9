# SPDX-License-Identifier: MIT
"""The showing side."""
from __future__ import annotations

from typing import Any, Iterator, NamedTuple, Sequence, Union

from ._errors import RefusedError, ReckonerError
from ._generated import (BlendCurve, BlendProfile, ByteCount, CallError, ClientEventKind, CorrectionReason, Delivery,
                         Mode, ResultCode, Status)
from ._handle import Handle, Log, refusals, set_log
from ._library import check, check_call, ffi, lib, sized, text
from ._values import (SHOWN, Array, Entity, FieldValue, FrameArrays, as_dict, bytes_at, fill, get_value, new_state,
                      optional, state_of, state_pointer, vector, with_settings)
from .archetype import Archetype, fill_archetypes
from .security import of_size

_KINDS: dict[int, ClientEventKind] = {kind.value: kind for kind in ClientEventKind}
_REASONS: dict[int, CorrectionReason] = {reason.value: reason for reason in CorrectionReason}
_POSES = (("uint64_t[]", "u8", ()), ("double[]", "f8", (3,)), ("float[]", "f4", (4,)))
_HANDLED = ("archetype_count", "port", "insecure", "game", "transport")


class ClientEvent(NamedTuple):
    kind: Union[ClientEventKind, int]  #: an int if a newer library has added a kind
    entity: Entity
    fields: int  #: FIELDS_CHANGED: a bit for each changed field
    predicted: Entity  #: SPAWNED: the predicted entity that `entity` replaces; 0: none


class Message(NamedTuple):
    data: bytes
    time_s: float | None
    sender: int  #: in a client 0: the server


class Poses(NamedTuple):
    """The poses of all visible entities, in the same order in every array."""

    entities: Array  #: uint64, n
    positions: Array  #: float64, n x 3, m
    orientations: Array  #: float32, n x 4: x, y, z, w
    shown_time_s: float


class ShortLived(NamedTuple):
    data: bytes  #: what the server's game sent with the entity
    end_s: float  #: server time of its end; infinite if it is not known


class PredictionStep(NamedTuple):
    """A tick that the game steps."""

    tick: int  #: the server's tick
    input: bytes  #: what the player does in this tick


class CorrectedEntity(NamedTuple):
    """The exact state of a predicted entity, as the server has it."""

    entity: Entity
    state: Array
    game_state: bytes  #: the bytes of Server.set_game_state()


class Correction(NamedTuple):
    """What the server says happened."""

    tick: int  #: the states are those after this tick
    reason: Union[CorrectionReason, int]  #: an int if a newer library has added a reason
    entities: list[CorrectedEntity]  #: every entity that the client predicts
    steps: list[PredictionStep]  #: the ticks since, oldest first: step them again


def blend_settings(profile: BlendProfile) -> dict[str, Any]:
    """The settings blend_curve and blend_s of a profile: Client(..., **blend_settings(BlendProfile.ACCURATE)) or
    client.set_playout(**blend_settings(BlendProfile.GENTLE))."""
    curve, duration_s = ffi.new("int32_t*"), ffi.new("double*")
    check(lib.reckoner_blend_settings(profile, curve, duration_s))
    return {"blend_curve": BlendCurve(curve[0]), "blend_s": float(duration_s[0])}


class Client(Handle):
    """Connects to a server and shows its entities.

    For each picture: update(), events() and messages(), then shown() or shown_poses(), and flush() if messages were
    sent. Only update() has a time, in seconds of any monotonic clock, such as reckoner.now(); all other calls use the
    time of the last update(). Use a client in one thread at a time.

    `settings`: any number of reckoner_client_config, for example mode=Mode.ADAPTIVE or blend_s=0.1;
    docs/REFERENCE.md lists them. A bad setting raises ReckonerError with the library's text."""

    def __init__(self, host: str | None = None, port: int = 0, *, archetypes: Sequence[Archetype] = (Archetype(),),
                 token: bytes | None = None, insecure: bool = False, game: int = 0, log: Log | None = None,
                 transport: str | None = None, **settings: Any) -> None:
        self._keep: list[Any] = []
        config = sized("reckoner_client_config")
        fill(config, settings, _HANDLED)
        fill_archetypes(config, archetypes, self._keep)
        set_log(config, log, self._keep)
        host_text = ffi.NULL if host is None else ffi.new("char[]", host.encode())
        token_bytes = ffi.NULL if token is None else ffi.from_buffer("uint8_t[]", of_size(
            token, ByteCount.TOKEN_BYTES, "a token"))
        config.host, config.port, config.token = host_text, port, token_bytes
        config.insecure, config.game = insecure, game
        transport_text = ffi.NULL if transport is None else ffi.new("char[]", transport.encode())
        config.transport = transport_text
        made, why = ffi.new("reckoner_client**"), ffi.new("char[]", 400)
        result = lib.reckoner_client_create(config, made, why, len(why))
        if result != 0:
            raise ReckonerError(text(why) or str(result), result)
        self._raw = made[0]
        self._event = sized("reckoner_client_event")
        self._message = sized("reckoner_message")
        self._step, self._correction = ffi.new("reckoner_prediction_step*"), sized("reckoner_correction")
        self._count, self._time = ffi.new("size_t*"), ffi.new("double*")
        self._poses = FrameArrays(64, _POSES)
        self._shown = FrameArrays(64, (("reckoner_shown[]", SHOWN, ()),))

    def close(self) -> None:
        """Leaves the server and ends the client at once: reliable messages that the server still lacks are lost. To
        deliver them, call leave() before. Every later call raises ClosedError."""
        raw, self._raw = self._raw, None
        if raw is not None:
            lib.reckoner_client_leave(raw)
            lib.reckoner_client_destroy(raw)

    # -- Connection

    def update(self, now_s: float) -> Status:
        """Sets the time of this and all following calls, and handles everything that has arrived. Returns the status.
        Raises RefusedError if the server does not let this client join, or kicked it."""
        self._check(lib.reckoner_client_update(self._c, now_s))
        status = self.status
        if status == Status.REFUSED:
            raise RefusedError(self.refusal)
        return status

    def wait(self, seconds: float) -> None:
        """Waits until something arrives, at most this long."""
        self._check(lib.reckoner_client_wait(self._c, seconds))

    def leave(self) -> None:
        """Leaves the server for good. Call update() until it returns Status.DISCONNECTED, for as long as the game is
        willing to wait, for example 2 s: the client first sends the reliable messages that the server still lacks.
        Without such messages, this takes a round trip."""
        self._check(lib.reckoner_client_leave(self._c))

    @property
    def status(self) -> Status:
        return Status(lib.reckoner_client_status(self._c))

    @property
    def refusal(self) -> str:
        """Why the client was refused or disconnected."""
        return text(lib.reckoner_client_refusal(self._c))

    def lost_for(self) -> float:
        """Time from the loss of the connection to the last update(), s; 0 while the client does not reconnect."""
        self._check(lib.reckoner_client_lost_for(self._c, self._time))
        return float(self._time[0])

    def set_token(self, token: bytes) -> None:
        """Gives a reconnecting client a new token."""
        self._check(lib.reckoner_client_set_token(self._c, of_size(token, ByteCount.TOKEN_BYTES, "a token")))

    def ticket(self) -> bytes | None:
        """With it the client can join again, once. None before it has joined."""
        ticket = ffi.new("uint8_t[]", ByteCount.TOKEN_BYTES)
        return bytes(ticket) if self._check(lib.reckoner_client_ticket(self._c, ticket)) else None

    def server_time(self) -> float | None:
        """Estimated server time at the last update(), s; None before the first answer."""
        return float(self._time[0]) if self._check(lib.reckoner_client_server_time(self._c, self._time)) else None

    def events(self) -> Iterator[ClientEvent]:
        """The events since the last call."""
        event = self._event
        while self._check(lib.reckoner_client_poll_event(self._c, event)):
            yield ClientEvent(_KINDS.get(event.kind, event.kind), event.entity, event.fields, event.predicted)

    def messages(self) -> Iterator[Message]:
        """The server's messages since the last call."""
        m = self._message
        while self._check(lib.reckoner_client_poll_message(self._c, m)):
            yield Message(bytes(ffi.buffer(m.bytes, m.size)), m.time_s if m.has_time else None, m.sender)

    def send(self, data: bytes, *, delivery: Delivery = Delivery.RELIABLE, time_s: float | None = None) -> None:
        """Sends bytes to the server's game."""
        self._check(lib.reckoner_client_send(self._c, ffi.from_buffer(data), len(data), delivery, optional(time_s)))

    def flush(self) -> None:
        """Sends now what waits for the next update(): messages, changed playout settings and acknowledgements. Call it
        after the last send() before a picture."""
        self._check(lib.reckoner_client_flush(self._c))

    # -- What is shown

    def shown_poses(self) -> Poses:
        """The poses of all visible entities, about ten times as fast as shown(). The library writes directly into the
        arrays. Arrays that you keep stay as they are; the memory of others is used again."""
        handle = self._c
        capacity = self._poses.capacity
        while True:
            if not self._poses.usable(capacity):
                self._poses = FrameArrays(capacity, _POSES)
            result = lib.reckoner_client_shown_poses_into(handle, *self._poses.pointers, self._poses.capacity,
                                                          self._count, self._time)
            if result != ResultCode.ERROR_CAPACITY:
                break
            capacity = 2 * self._count[0]
        self._check(result)
        n = self._count[0]
        entities, positions, orientations = self._poses.arrays
        return Poses(entities[:n], positions[:n], orientations[:n], self._time[0])

    def shown(self) -> Array:
        """All visible entities with velocities, frames and ages: a structured array of type SHOWN. The library writes
        directly into it. An array that you keep stays as it is; otherwise its memory is used again."""
        handle = self._c
        capacity = self._shown.capacity
        while True:
            if not self._shown.usable(capacity):
                self._shown = FrameArrays(capacity, (("reckoner_shown[]", SHOWN, ()),))
            result = lib.reckoner_client_shown(handle, self._shown.pointers[0], SHOWN.itemsize,
                                               self._shown.capacity, self._count)
            if result != ResultCode.ERROR_CAPACITY:
                break
            capacity = 2 * self._count[0]
        self._check(result)
        return self._shown.arrays[0][:self._count[0]]

    def shown_one(self, entity: Entity) -> Array | None:
        """One entity as in shown(); None while it is not visible."""
        one = FrameArrays(1, (("reckoner_shown[]", SHOWN, ()),))
        one.arrays[0]["struct_size"] = SHOWN.itemsize
        found = self._check(lib.reckoner_client_shown_one(self._c, entity, one.pointers[0]))
        return one.arrays[0][0] if found else None

    def name(self, entity: Entity) -> str | None:
        """The name of an entity that is shown or was just removed; None if unknown."""
        found = lib.reckoner_client_name(self._c, entity)
        return None if found == ffi.NULL else text(found)

    def short_lived(self, entity: Entity) -> ShortLived | None:
        """What came with Server.spawn_short_lived(); None for other entities."""
        data, size = ffi.new("const uint8_t**"), self._count
        if not self._check(lib.reckoner_client_short_lived(self._c, entity, data, size, self._time)):
            return None
        return ShortLived(bytes(ffi.buffer(data[0], size[0])) if size[0] else b"", self._time[0])

    def field(self, entity: Entity, field: int) -> FieldValue:
        """The value of a user field at the last shown instant. Texts are bytes: .decode()."""
        value = ffi.new("reckoner_value*")
        self._check(lib.reckoner_client_field(self._c, entity, field, value))
        return get_value(value)

    def set_user_value(self, entity: Entity, value: int) -> None:
        """Keeps a number of the game with an entity."""
        self._check(lib.reckoner_client_set_user_value(self._c, entity, value))

    def user_value(self, entity: Entity) -> int:
        value = ffi.new("uint64_t*")
        self._check(lib.reckoner_client_user_value(self._c, entity, value))
        return int(value[0])

    def correct(self, entity: Entity, shown: Array, anticipated_s: float = 0.0) -> None:
        """Replaces the shown state, for example after the game pushed the entity out of an obstacle.

        With anticipated_s above 0 the game anticipates a hit: the entity continues from `shown` until a motion with the hit
        has arrived, for at most anticipated_s."""
        self._check(lib.reckoner_client_anticipate(self._c, entity, state_pointer(shown), anticipated_s))

    def set_paused(self, paused: bool) -> None:
        """Freezes what this client shows."""
        self._check(lib.reckoner_client_set_paused(self._c, paused))

    def set_playout(self, *, mode: Mode | None = None, **settings: float) -> None:
        """Changes which instant is shown; settings as in reckoner_playout. There is no jump."""
        playout = with_settings("reckoner_playout", {**settings, **({} if mode is None else {"mode": mode})})
        self._check(lib.reckoner_client_set_playout(self._c, playout))

    def set_origin(self, origin: Sequence[float]) -> None:
        """Sets the origin of the coordinates that the client returns and accepts, m."""
        self._check(lib.reckoner_client_set_origin(self._c, vector(origin)))

    def _check(self, result: int) -> bool:
        """True for RECKONER_OK, False for RECKONER_NOTHING; raises ReckonerError with the reason of the call."""
        return check_call(result, lambda: lib.reckoner_client_call_error(self._c))

    # -- The player's own body

    def poll_correction(self) -> Correction | None:
        """The server's states of all predicted entities after one tick, if the game must go back to them; None if not. Call
        it after update() and events(), before steps(): restore the entities, step the ticks in `steps` again, and pass
        the results to predict(). What is shown then goes over into the new path without a jump."""
        found = self._correction
        if not self._check(lib.reckoner_client_poll_correction(self._c, found)):
            return None
        entities = [CorrectedEntity(int(one.entity), state_of(one.state), bytes_at(one.game_state, one.game_state_size))
                    for one in found.entities[0:found.entity_count]]
        steps = [PredictionStep(step.tick, bytes_at(step.input, step.input_size))
                 for step in found.steps[0:found.step_count]]
        return Correction(found.tick, _REASONS.get(found.reason, found.reason), entities, steps)

    def next_step(self, data: bytes) -> PredictionStep | None:
        """The tick that the game must step now, and the player's input in it; None if none is due. `data`, at most 64 bytes,
        is what the player does now. Step the predicted entities, and pass the results to predict()."""
        if not self._check(lib.reckoner_client_next_step(self._c, ffi.from_buffer(data), len(data), self._step)):
            return None
        return PredictionStep(self._step.tick, bytes_at(self._step.input, self._step.input_size))

    def steps(self, data: bytes) -> Iterator[PredictionStep]:
        """The ticks that the game must step now: next_step() until none is due."""
        while (step := self.next_step(data)) is not None:
            yield step

    def predict(self, entity: Entity, tick: int, state: Array, game_state: bytes = b"") -> None:
        """What the game has computed for an entity that it predicts: its state after `tick`, a tick of steps() or of a
        correction. `game_state`: the bytes that the server's game sets with Server.set_game_state(). When each predicted
        entity has a state for the newest tick, inputs and results are sent."""
        self._check(lib.reckoner_client_predict(self._c, entity, tick, state_pointer(state), ffi.from_buffer(game_state),
                                                len(game_state)))

    # -- Entities that this client owns, and spawns that it predicts

    def _done(self, result: int) -> bool:
        """False for refusals that pass by themselves."""
        waits = (CallError.EVENT_NOT_POLLED, CallError.NO_CLOCK)
        if result != ResultCode.OK and lib.reckoner_client_call_error(self._c) in waits:
            return False
        return self._check(result)

    def move(self, entity: Entity, state: Array, frame: Entity | None = None) -> bool:
        """Sets the state of an owned entity; call it after each update(). `frame`: the entity in whose coordinates the state
        is (0: the world); None: in the present one. False: not now, because an event about the entity waits in
        events(), or the clock is not synchronised. Other refusals raise ReckonerError."""
        if frame is None:
            return self._done(lib.reckoner_client_move(self._c, entity, state_pointer(state)))
        return self._done(lib.reckoner_client_move_in(self._c, entity, state_pointer(state), frame))

    def teleport(self, entity: Entity, state: Array, frame: Entity = 0) -> bool:
        """Moves an owned entity there in one jump. No client blends. False as in move()."""
        return self._done(lib.reckoner_client_teleport(self._c, entity, state_pointer(state), frame))

    def owned(self, entity: Entity) -> Array | None:
        """The state from which to continue after GIVEN or CORRECTED; None if this client does not own the entity."""
        made, pointer = new_state()
        return made if self._check(lib.reckoner_client_owned(self._c, entity, pointer)) else None

    def motion_at(self, entity: Entity, server_time_s: float) -> Array | None:
        """The motion of an entity at this server time, in the world, without blends: its velocity and acceleration are
        those of the motion alone. None if the client does not know the motion at that time."""
        made, pointer = new_state()
        return made if self._check(lib.reckoner_client_motion_at(self._c, entity, server_time_s, pointer)) else None

    def owned_frame(self, entity: Entity) -> Entity:
        """The frame of an owned entity; 0: the world."""
        frame = ffi.new("reckoner_entity*")
        self._check(lib.reckoner_client_owned_frame(self._c, entity, frame))
        return int(frame[0])

    def predict_spawn(self, archetype: int, state: Array, key: int, patience_s: float) -> Entity:
        """Shows an entity at once that the server is expected to spawn with the same key."""
        entity = ffi.new("reckoner_entity*")
        self._check(lib.reckoner_client_predict_spawn(
            self._c, archetype, state_pointer(state), key, patience_s, entity))
        return int(entity[0])

    def drop_prediction(self, entity: Entity) -> None:
        """Ends a predicted entity without an event."""
        self._check(lib.reckoner_client_drop_prediction(self._c, entity))

    # -- Figures

    def debug(self, entity: Entity) -> dict[str, Any] | None:
        """Members of reckoner_shown_debug; None if the entity was not shown."""
        debug = sized("reckoner_shown_debug")
        return as_dict(debug) if self._check(lib.reckoner_client_debug(self._c, entity, debug)) else None

    def stats(self) -> dict[str, Any]:
        """Members of reckoner_client_stats."""
        stats = sized("reckoner_client_stats")
        self._check(lib.reckoner_client_get_stats(self._c, stats))
        return as_dict(stats)

    def refused(self) -> dict[str, tuple[int, int]]:
        """For each reason, how many payloads and datagrams of the server were refused."""
        handle = self._c
        return refusals(lambda *counts: self._check(lib.reckoner_client_refused(handle, *counts)))
