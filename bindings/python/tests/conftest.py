# SPDX-License-Identifier: MIT
"""A server and clients in one process, over loopback and sealed, in real time."""
from __future__ import annotations

import os
import pathlib
import time
from typing import Any, Callable

import pytest

import reckoner

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("RECKONER_BUILD", ROOT / "build/release"))


class World:
    """Steps a server and its clients, and keeps their events."""

    def __init__(self, **server: Any) -> None:
        self.key = reckoner.make_key()
        self.archetypes = server.get("archetypes", (reckoner.Archetype(),))
        self.server = reckoner.Server("127.0.0.1", key=self.key, **server)
        self.clients: list[reckoner.Client] = []
        self.events: dict[reckoner.Client, list[reckoner.ClientEvent]] = {}
        self.server_events: list[reckoner.ServerEvent] = []
        self.each_tick: Callable[[float], None] = lambda _: None

    def token(self, client_id: int) -> bytes:
        return reckoner.issue_token(self.key, [("127.0.0.1", self.server.port)], client_id=client_id,
                                    user_data=b"player")

    def join(self, **settings: Any) -> reckoner.Client:
        client = reckoner.Client("127.0.0.1", self.server.port, token=self.token(7000 + len(self.clients)),
                                 **{"archetypes": self.archetypes, **settings})
        self.clients.append(client)
        self.events[client] = []
        self.until(lambda: client.status == reckoner.Status.JOINED)
        return client

    def step(self) -> float:
        now = reckoner.now()
        self.server.receive(now)
        self.server_events += self.server.events()
        for tick_s in self.server.ticks(now):
            self.each_tick(tick_s)
        for client in self.clients:
            if not client.closed:
                client.update(now)
                self.events[client] += client.events()
        return now

    def until(self, so: Callable[[], bool]) -> float:
        """Steps until so() is true; returns the time."""
        end = time.monotonic() + 20.0  # generous: the machine may be busy
        while time.monotonic() < end:
            now = self.step()
            if so():
                return now
            time.sleep(0.002)
        raise AssertionError("it did not become true in 20 s")

    def had(self, client: reckoner.Client, kind: reckoner.ClientEventKind, entity: int) -> bool:
        return any(event.kind == kind and event.entity == entity for event in self.events[client])

    def shows(self, client: reckoner.Client, entity: int) -> bool:
        return client.shown_one(entity) is not None

    @property
    def peer(self) -> int:
        """The server's id of the last client that joined."""
        return [e.client for e in self.server_events if e.kind == reckoner.ServerEventKind.CLIENT_JOINED][-1]

    def close(self) -> None:
        for client in self.clients:
            client.close()
        self.server.close()


@pytest.fixture
def world() -> Any:
    made = World()
    yield made
    made.close()
