# SPDX-License-Identifier: MIT
"""The publishing side."""
from __future__ import annotations

from typing import Any, Iterator, NamedTuple, Sequence, Union

import numpy as np

from ._errors import ReckonerError
from ._generated import ByteCount, Delivery, Relevance, ResultCode, RewindStatus, RouteKind, SentContent, ServerEventKind
from ._handle import Handle, Log, refusals, set_log
from ._library import check, check_call, ffi, lib, sized, text
from ._values import (SEEN, Array, Entity, FieldValue, as_dict, bytes_at, fill, get_value, new_state, now,
                      optional, set_value, state_pointer, vector, with_settings)
from .archetype import Archetype, fill_archetypes
from .client import Message
from .security import address_array, of_size

ClientId = int  #: the server's id of a client; 0: none
Route = int  #: 0: none
_KINDS: dict[int, ServerEventKind] = {kind.value: kind for kind in ServerEventKind}
_HANDLED = ("archetype_count", "port", "insecure", "address_count", "transport")
_LISTED = {"uint64_t[]": np.dtype("u8"), "uint32_t[]": np.dtype("u4"), "reckoner_seen[]": SEEN}


class ServerEvent(NamedTuple):
    kind: Union[ServerEventKind, int]  #: an int if a newer library has added a kind
    client: ClientId
    entity: Entity
    text: str  #: CLIENT_REFUSED: the reason


class PlayerInput(NamedTuple):
    """What a player does in a tick."""

    data: bytes  #: empty if there is no input, or none for longer than repeat_input_s: let the player do nothing
    repeated: int  #: 0: the input of this tick; otherwise `data` is an earlier one, used for this many ticks more
    seen_s: float  #: server time of the other entities that the player saw, for pose_seen_by(); 0: no input yet


class Pose(NamedTuple):
    position: tuple[float, float, float]  #: m
    orientation: tuple[float, float, float, float]  #: x, y, z, w


class Server(Handle):
    """Publishes entities to clients.

    Call receive() soon after datagrams arrive; in each tick, move the entities, then call tick(). ticks() does this in
    time. Use a server in one thread at a time.

    `settings`: any number of reckoner_server_config, for example tick_rate_hz=30. docs/REFERENCE.md lists them. A bad
    setting raises ReckonerError with the library's text. Tick 0 is due at `epoch_s`, by default the present
    reckoner.now(): pass 0.0 if you use a clock of your own that starts at 0."""

    def __init__(self, host: str | None = None, port: int = 0, *, archetypes: Sequence[Archetype] = (Archetype(),),
                 key: bytes | None = None, insecure: bool = False, addresses: Sequence[tuple[str, int]] = (),
                 log: Log | None = None, transport: str | None = None, **settings: Any) -> None:
        self._keep: list[Any] = []
        config = sized("reckoner_server_config")
        fill(config, {"epoch_s": now(), **settings}, _HANDLED)
        fill_archetypes(config, archetypes, self._keep)
        set_log(config, log, self._keep)
        host_text = ffi.NULL if host is None else ffi.new("char[]", host.encode())
        key_bytes = ffi.NULL if key is None else ffi.from_buffer("uint8_t[]", of_size(
            key, ByteCount.KEY_BYTES, "a key"))
        address_list = address_array(addresses)
        config.host, config.port, config.key, config.insecure = host_text, port, key_bytes, insecure
        config.addresses, config.address_count = address_list, len(addresses)
        transport_text = ffi.NULL if transport is None else ffi.new("char[]", transport.encode())
        config.transport = transport_text
        made, why = ffi.new("reckoner_server**"), ffi.new("char[]", 400)
        result = lib.reckoner_server_create(config, made, why, len(why))
        if result != 0:
            raise ReckonerError(text(why) or str(result), result)
        self._raw = made[0]
        self._event = sized("reckoner_server_event")
        self._message = sized("reckoner_message")
        self._input = sized("reckoner_player_input")
        self._due, self._count = ffi.new("double*"), ffi.new("size_t*")

    def close(self) -> None:
        """Ends all connections and the server at once: reliable messages that clients still lack are lost. To deliver
        them, call shutdown() before. Every later call raises ClosedError."""
        raw, self._raw = self._raw, None
        if raw is not None:
            lib.reckoner_server_destroy(raw)

    @property
    def port(self) -> int:
        """The UDP port in use."""
        return int(lib.reckoner_server_port(self._c))

    # -- Time

    def receive(self, now_s: float) -> None:
        """Handles everything that has arrived."""
        self._check(lib.reckoner_server_receive(self._c, now_s))

    def wait(self, seconds: float) -> None:
        """Waits until something arrives, at most this long."""
        self._check(lib.reckoner_server_wait(self._c, seconds))

    def tick(self, now_s: float) -> None:
        self._check(lib.reckoner_server_tick(self._c, now_s))

    def next_tick(self) -> tuple[int, float]:
        """The number of the next tick, and the server time at which it is due, s."""
        number = ffi.new("uint32_t*")
        self._check(lib.reckoner_server_next_tick(self._c, number, self._due))
        return int(number[0]), float(self._due[0])

    def ticks(self, now_s: float) -> Iterator[float]:
        """The server times of all ticks that are due. Move the entities in the body of the loop; then the tick runs."""
        while True:
            self._check(lib.reckoner_server_next_tick(self._c, ffi.NULL, self._due))
            due_s = float(self._due[0])
            if due_s > now_s:
                return
            yield due_s
            self.tick(now_s)

    def shutdown(self) -> None:
        """Ends all sessions and admits no more clients. Call receive() until stats()["closing"] is 0, for example at
        most 5 s: the server first sends the reliable messages that clients still lack. A client that has crashed does
        not answer."""
        self._check(lib.reckoner_server_shutdown(self._c))

    def _check(self, result: int) -> bool:
        """True for RECKONER_OK, False for RECKONER_NOTHING; raises ReckonerError with the reason of the call."""
        return check_call(result, lambda: lib.reckoner_server_call_error(self._c))

    # -- Entities

    def spawn(self, state: Array, *, name: str = "", archetype: int = 0, frame: Entity = 0) -> Entity:
        entity = ffi.new("reckoner_entity*")
        self._check(lib.reckoner_server_spawn(self._c, archetype, name.encode(), state_pointer(state), frame, entity))
        return int(entity[0])

    def spawn_short_lived(self, state: Array, *, archetype: int = 0, end_s: float | None = None, data: bytes = b"",
                          predicted_by: ClientId = 0, prediction: int = 0, frame: Entity = 0) -> Entity:
        """Adds an entity that lives for seconds, such as a projectile, with up to 256 bytes for the clients' games."""
        entity = ffi.new("reckoner_entity*")
        self._check(lib.reckoner_server_spawn_short_lived(
            self._c, archetype, state_pointer(state), optional(end_s), ffi.from_buffer(data), len(data), predicted_by,
            prediction, frame, entity))
        return int(entity[0])

    def refuse_prediction(self, client: ClientId, key: int) -> None:
        """Tells a client that the server does not spawn what the client has predicted with this key."""
        self._check(lib.reckoner_server_refuse_prediction(self._c, client, key))

    def despawn(self, entity: Entity) -> None:
        self._check(lib.reckoner_server_despawn(self._c, entity))

    def move(self, entity: Entity, truth: Array) -> None:
        """Sets the true state at the next tick, in the entity's frame."""
        self._check(lib.reckoner_server_move(self._c, entity, state_pointer(truth)))

    def teleport(self, entity: Entity, truth: Array) -> None:
        """Sets the true state after a jump. Clients do not blend over it."""
        self._check(lib.reckoner_server_teleport(self._c, entity, state_pointer(truth)))

    def state(self, entity: Entity) -> Array:
        """The state at the next tick, in the entity's frame."""
        made, pointer = new_state()
        self._check(lib.reckoner_server_state(self._c, entity, pointer))
        return made

    def in_world(self, entity: Entity) -> Array:
        """The state at the next tick, in the world."""
        made, pointer = new_state()
        self._check(lib.reckoner_server_in_world(self._c, entity, pointer))
        return made

    def published(self, entity: Entity) -> tuple[Array, float] | None:
        """The last published motion: its state at its time stamp, and that. None before the entity's first tick."""
        made, pointer = new_state()
        found = self._check(lib.reckoner_server_published(self._c, entity, pointer, self._due))
        return (made, self._due[0]) if found else None

    def _listed(self, kind: str, write: Any) -> Array:
        """What a function that writes up to `capacity` elements finds."""
        capacity = 64
        while True:
            found = np.empty(capacity, _LISTED[kind])
            result = write(ffi.from_buffer(kind, found), capacity, self._count)
            if result != ResultCode.ERROR_CAPACITY:
                self._check(result)
                return found[:self._count[0]]
            capacity = self._count[0] + 64

    def entities(self) -> Array:
        """The ids of all entities, uint64."""
        return self._listed("uint64_t[]", lambda *to: lib.reckoner_server_entities(self._c, *to))

    def entities_near(self, centre: Sequence[float], radius_m: float) -> Array:
        """The ids of all entities up to this distance, uint64."""
        at = vector(centre)
        return self._listed("uint64_t[]", lambda *to: lib.reckoner_server_entities_near(self._c, at, radius_m, *to))

    def set_user_value(self, entity: Entity, value: int) -> None:
        """Keeps a number of the game with an entity. It is not sent."""
        self._check(lib.reckoner_server_set_user_value(self._c, entity, value))

    def user_value(self, entity: Entity) -> int:
        value = ffi.new("uint64_t*")
        self._check(lib.reckoner_server_user_value(self._c, entity, value))
        return int(value[0])

    def set_field(self, entity: Entity, field: int, value: FieldValue) -> None:
        """Sets a user field. The Python type must be the field's: bool, int, float, or bytes and str for blobs."""
        made = ffi.new("reckoner_value*")
        set_value(made, value)
        self._check(lib.reckoner_server_set_field(self._c, entity, field, made))

    def field(self, entity: Entity, field: int) -> FieldValue:
        """The value as clients receive it."""
        value = ffi.new("reckoner_value*")
        self._check(lib.reckoner_server_field(self._c, entity, field, value))
        return get_value(value)

    def enter_frame(self, entity: Entity, frame: Entity) -> None:
        """Puts an entity into the frame of another one from the next tick on; 0: the world."""
        self._check(lib.reckoner_server_enter_frame(self._c, entity, frame))

    def set_boardable(self, entity: Entity, boardable: bool) -> None:
        """Sets whether owners may move their entities into the frame of this entity."""
        self._check(lib.reckoner_server_set_boardable(self._c, entity, int(boardable)))

    def frame_of(self, entity: Entity) -> Entity:
        frame = ffi.new("reckoner_entity*")
        self._check(lib.reckoner_server_frame_of(self._c, entity, frame))
        return int(frame[0])

    def set_origin(self, origin: Sequence[float]) -> None:
        self._check(lib.reckoner_server_set_origin(self._c, vector(origin)))

    # -- Relevance

    def set_relevance(self, entity: Entity, relevance: Relevance, client: ClientId = 0) -> None:
        """Whether an entity is relevant for a client; client 0: for all."""
        self._check(lib.reckoner_server_set_relevance(self._c, client, entity, relevance))

    def set_entity_groups(self, entity: Entity, groups: int) -> None:
        self._check(lib.reckoner_server_set_entity_groups(self._c, entity, groups))

    def set_client_groups(self, client: ClientId, groups: int) -> None:
        self._check(lib.reckoner_server_set_client_groups(self._c, client, groups))

    def set_view(self, client: ClientId, eye: Sequence[float]) -> None:
        """Sets the point from which distances are measured for a client, m."""
        self._check(lib.reckoner_server_set_view(self._c, client, vector(eye)))

    # -- Ownership

    def give(self, entity: Entity, owner: ClientId, **rules: float) -> None:
        """Gives an entity to a client, with rules as in reckoner_ownership_rules."""
        self._check(lib.reckoner_server_give(self._c, entity, owner, with_settings("reckoner_ownership_rules", rules)))

    def revoke(self, entity: Entity) -> bool:
        """Ends the ownership. False if no client owned the entity."""
        return self._check(lib.reckoner_server_revoke(self._c, entity))

    def owner(self, entity: Entity) -> ClientId:
        """The client that owns the entity; 0: none."""
        owner = ffi.new("reckoner_client_id*")
        self._check(lib.reckoner_server_owner(self._c, entity, owner))
        return int(owner[0])

    # -- The players' own bodies

    def let_predict(self, entity: Entity, client: ClientId, **rules: float) -> None:
        """Lets a client predict an entity, with rules as in reckoner_prediction_rules: the client's game steps it with the
        player's inputs, at once, and the server's game decides. Several clients may predict one entity, and a client at
        most eight."""
        self._check(lib.reckoner_server_let_predict(self._c, entity, client,
                                                    with_settings("reckoner_prediction_rules", rules)))

    def stop_prediction(self, entity: Entity, client: ClientId) -> None:
        """The client shows the entity like those of others from now on."""
        self._check(lib.reckoner_server_stop_prediction(self._c, entity, client))

    def set_game_state(self, entity: Entity, data: bytes) -> None:
        """Sets bytes of the game that belong to the exact state of an entity, at most 128, for example a cooldown. Call it
        together with move()."""
        self._check(lib.reckoner_server_set_game_state(self._c, entity, ffi.from_buffer(data), len(data)))

    def input(self, client: ClientId) -> PlayerInput:
        """What a player does in the next tick. Call it once for each client in the body of ticks(). Empty if the client is
        unknown."""
        found = self._input
        self._check(lib.reckoner_server_input(self._c, client, found))
        return PlayerInput(bytes_at(found.bytes, found.size), found.repeated, found.seen_s)

    def prediction_stats(self, client: ClientId) -> dict[str, Any] | None:
        """Members of reckoner_prediction_stats: figures of a client's inputs and predictions. None if it has no session."""
        stats = sized("reckoner_prediction_stats")
        return as_dict(stats) if self._check(lib.reckoner_server_get_prediction_stats(self._c, client, stats)) else None

    # -- Routes

    def add_route(self, points: Array, *, kind: RouteKind = RouteKind.CATMULL_ROM, keys: Sequence[dict[str, Any]] = (),
                  **settings: Any) -> Route:
        """Adds a curve that both ends know, through points (n x 3, m), or through keys for RouteKind.TCB: dictionaries
        with members of reckoner_route_key. Settings as in reckoner_route_config."""
        config = sized("reckoner_route_config")
        fill(config, settings, ("point_count", "key_count", "kind"))
        array = np.ascontiguousarray(points, "f8").reshape(-1, 3)
        given_points = ffi.from_buffer("double[]", array)
        given_keys = ffi.new("reckoner_route_key[]", max(1, len(keys)))
        for i, key in enumerate(keys):
            fill(ffi.addressof(given_keys, i), key)
        config.kind = kind
        config.points, config.point_count = given_points, len(array)
        config.keys, config.key_count = given_keys, len(keys)
        route, why = ffi.new("reckoner_route*"), ffi.new("char[]", 400)
        check(lib.reckoner_server_add_route(self._c, config, route, why, len(why)), text(why))
        return int(route[0])

    def route_length(self, route: Route) -> float:
        self._check(lib.reckoner_server_route_length(self._c, route, self._due))
        return float(self._due[0])

    def route_state(self, route: Route, distance_m: float, speed_mps: float = 0.0,
                    acceleration_mps2: float = 0.0) -> Array:
        made, pointer = new_state()
        self._check(lib.reckoner_server_route_state(self._c, route, distance_m, speed_mps, acceleration_mps2, pointer))
        return made

    def route_nearest(self, route: Route, point: Sequence[float]) -> tuple[float, float]:
        """The distance along the route that is nearest to a point, and the distance between them, m."""
        away = ffi.new("double*")
        self._check(lib.reckoner_server_route_nearest(self._c, route, vector(point), self._due, away))
        return float(self._due[0]), float(away[0])

    def follow(self, entity: Entity, route: Route) -> None:
        self._check(lib.reckoner_server_follow(self._c, entity, route))

    def leave_route(self, entity: Entity) -> None:
        self._check(lib.reckoner_server_leave_route(self._c, entity))

    def move_along(self, entity: Entity, distance_m: float, speed_mps: float, acceleration_mps2: float = 0.0) -> None:
        self._check(lib.reckoner_server_move_along(self._c, entity, distance_m, speed_mps, acceleration_mps2))

    # -- Clients

    def events(self) -> Iterator[ServerEvent]:
        """The events since the last call."""
        event = self._event
        while self._check(lib.reckoner_server_poll_event(self._c, event)):
            yield ServerEvent(_KINDS.get(event.kind, event.kind), event.client, event.entity, text(event.text))

    def messages(self) -> Iterator[Message]:
        """The clients' messages since the last call. Do not trust them."""
        m = self._message
        while self._check(lib.reckoner_server_poll_message(self._c, m)):
            yield Message(bytes(ffi.buffer(m.bytes, m.size)), m.time_s if m.has_time else None, m.sender)

    def send(self, data: bytes, client: ClientId = 0, *, delivery: Delivery = Delivery.RELIABLE,
             time_s: float | None = None) -> None:
        """Sends bytes to a client's game; client 0: to all."""
        self._check(lib.reckoner_server_send(self._c, client, ffi.from_buffer(data), len(data), delivery, optional(time_s)))

    def broadcast(self, data: bytes, *, clients: Sequence[ClientId] | None = None,
                  within: tuple[Sequence[float], float] | None = None, seeing: Entity | None = None,
                  without: ClientId = 0, delivery: Delivery = Delivery.RELIABLE, time_s: float | None = None) -> int:
        """Sends bytes to several clients: to all, to the `clients` in a list, to those whose eye is `within` a radius of
        a point (centre, radius_m), or to those `seeing` an entity. Give at most one of the three. The client `without`
        gets nothing. Returns the number of clients to which the message was sent."""
        if sum(given is not None for given in (clients, within, seeing)) > 1:
            raise ValueError("give at most one of clients, within and seeing")
        reached = ffi.new("size_t*")
        # `without` is `except` in C++, C and C#. That is a keyword of Python.
        message = (without, ffi.from_buffer(data), len(data), delivery, optional(time_s), reached)
        if clients is not None:
            listed = ffi.new("reckoner_client_id[]", list(clients))
            self._check(lib.reckoner_server_broadcast_listed(self._c, listed, len(listed), *message))
        elif within is not None:
            centre, radius_m = within
            self._check(lib.reckoner_server_broadcast_within(self._c, vector(centre), radius_m, *message))
        elif seeing is not None:
            self._check(lib.reckoner_server_broadcast_seeing(self._c, seeing, *message))
        else:
            self._check(lib.reckoner_server_broadcast(self._c, *message))
        return int(reached[0])

    def clients(self) -> Array:
        """The ids of all clients that have a session, uint32."""
        return self._listed("uint32_t[]", lambda *to: lib.reckoner_server_clients(self._c, *to))

    def identity(self, client: ClientId) -> tuple[int, bytes] | None:
        """The client id and the user data in the client's token; None on an insecure server."""
        number, data = ffi.new("uint64_t*"), ffi.new("uint8_t[]", ByteCount.USER_BYTES)
        return (number[0], bytes(data)) if self._check(lib.reckoner_server_identity(self._c, client, number, data)) else None

    def kick(self, client: ClientId, reason: str = "") -> bool:
        """Ends a client's session, and all others of its client id. It is told the reason and does not reconnect.
        Tokens that were issued before become invalid. False if the client is unknown."""
        return self._check(lib.reckoner_server_kick(self._c, client, reason.encode()))

    def kick_player(self, client_id: int, reason: str = "") -> int:
        """Kicks the player with a client id, whether it has sessions here or not. Returns how many sessions ended."""
        ended = ffi.new("size_t*")
        self._check(lib.reckoner_server_kick_player(self._c, client_id, reason.encode(), ended))
        return ended[0]

    # -- Lag compensation

    def rewind_status(self, client: ClientId, time_s: float) -> RewindStatus:
        status = ffi.new("uint32_t*")
        self._check(lib.reckoner_server_rewind_status(self._c, client, time_s, status))
        return RewindStatus(status[0])

    def pose_seen_by(self, client: ClientId, entity: Entity, time_s: float) -> Pose | None:
        """The pose that a client showed at a server time; None if it did not, or if the server no longer knows."""
        pose = ffi.new("reckoner_pose*")
        if not self._check(lib.reckoner_server_pose_seen_by(self._c, client, entity, time_s, pose)):
            return None
        return Pose(tuple(pose.position), tuple(pose.orientation))

    def rewind(self, client: ClientId, time_s: float) -> Array:
        """The poses of all entities that a client showed: a structured array of type SEEN."""
        return self._listed("reckoner_seen[]", lambda *to: lib.reckoner_server_rewind(self._c, client, time_s, *to))

    # -- Figures

    def debug(self, entity: Entity) -> dict[str, Any] | None:
        """Members of reckoner_entity_debug; None before the entity's first tick."""
        debug = sized("reckoner_entity_debug")
        return as_dict(debug) if self._check(lib.reckoner_server_debug(self._c, entity, debug)) else None

    def stats(self) -> dict[str, Any]:
        """Members of reckoner_server_stats."""
        stats = sized("reckoner_server_stats")
        self._check(lib.reckoner_server_get_stats(self._c, stats))
        return as_dict(stats)

    def session_stats(self, client: ClientId) -> dict[str, Any] | None:
        """Members of reckoner_session_stats: one client's connection and queues. None if it has no session."""
        stats = sized("reckoner_session_stats")
        return as_dict(stats) if self._check(lib.reckoner_server_get_session_stats(self._c, client, stats)) else None

    def traffic(self) -> dict[str, tuple[int, int]]:
        """What costs bandwidth: number and bits of what was sent to all clients since the server was created, by content
        (SentContent). The bits add up to 8 * stats()["state_bytes_sent"]."""
        return self._amounts(len(SentContent), lib.reckoner_server_traffic)

    def archetype_traffic(self, archetype: int) -> dict[str, tuple[int, int]]:
        """traffic() of the entities of one archetype, with entities that have ended: the contents up to "field"."""
        return self._amounts(SentContent.FIELD + 1, lib.reckoner_server_archetype_traffic, archetype)

    def field_traffic(self, archetype: int, field: int) -> tuple[int, int]:
        """Number and bits of the changed values of a field that were sent. Values in spawns count as spawns."""
        count, bits = ffi.new("uint64_t*"), ffi.new("uint64_t*")
        self._check(lib.reckoner_server_field_traffic(self._c, archetype, field, count, bits))
        return count[0], bits[0]

    def traffic_of(self, entity: Entity) -> dict[str, Any]:
        """Members of reckoner_entity_traffic: what an entity has cost since its spawn, summed over all clients."""
        traffic = sized("reckoner_entity_traffic")
        self._check(lib.reckoner_server_traffic_of(self._c, entity, traffic))
        return as_dict(traffic)

    def _amounts(self, contents: int, count_of: Any, *of: int) -> dict[str, tuple[int, int]]:
        count, bits = ffi.new("uint64_t*"), ffi.new("uint64_t*")
        found: dict[str, tuple[int, int]] = {}
        for content in range(contents):
            self._check(count_of(self._c, *of, content, count, bits))
            found[text(lib.reckoner_sent_content_name(content))] = (count[0], bits[0])
        return found

    def refused(self) -> dict[str, tuple[int, int]]:
        """For each reason, how many payloads and datagrams of clients were refused."""
        handle = self._c
        return refusals(lambda *counts: self._check(lib.reckoner_server_refused(handle, *counts)))
