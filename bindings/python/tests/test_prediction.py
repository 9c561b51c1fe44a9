# SPDX-License-Identifier: MIT
"""A player's own body: the client's game steps it at once, and the server's game decides."""
import struct

import pytest
from conftest import World

import reckoner
from reckoner import ClientEventKind, CorrectionCause, CorrectionReason

TICK_S = 1 / 60


class Car:
    """A car that accelerates while a key is held. Its step is deterministic."""

    def __init__(self, x=0.0, speed=0.0):
        self.x, self.speed = x, speed

    def step(self, keys):
        self.speed = max(0.0, min(20.0, self.speed + (12.0 if keys == b"w" else -4.0) * TICK_S))
        self.x += self.speed * TICK_S

    def state(self):
        return reckoner.state(position=(self.x, 0, 0), velocity=(self.speed, 0, 0))

    def data(self):
        return struct.pack("d", self.speed)


class Drive:
    """A server whose game steps one car for the client, and the client's game that predicts it."""

    def __init__(self):
        self.world = World()
        self.truth, self.own, self.mine = Car(), None, False
        self.path, self.results, self.corrections = {}, {}, []
        self.push_m, self.polled, self.last_tick, self.seen_s = 0.0, 0, 0, 0.0
        self.car = self.world.server.spawn(self.truth.state(), name="car")
        self.world.each_tick = self.server_step
        self.client = self.world.join()
        self.world.server.let_predict(self.car, self.world.peer)

    def server_step(self, _):
        server = self.world.server
        for client in server.clients():
            player = server.input(client)
            self.seen_s = player.seen_s
            self.truth.step(player.data)
        self.truth.x += self.push_m
        self.push_m = 0.0
        server.move(self.car, self.truth.state())
        server.set_game_state(self.car, self.truth.data())
        self.path[server.next_tick()[0]] = self.truth.x

    def client_step(self):
        events = self.world.events[self.client]
        for event in events[self.polled:]:
            if event.kind in (ClientEventKind.PREDICTION_BEGAN, ClientEventKind.PREDICTION_ENDED):
                self.mine = event.kind == ClientEventKind.PREDICTION_BEGAN
        self.polled = len(events)
        if correction := self.client.poll_correction():
            self.corrections.append(correction)
            for entity, state, data in correction.entities:
                assert entity == self.car
                self.own = Car(float(state["position"][0]), *struct.unpack("d", data))
            for step in correction.steps:
                self.predict(step)
        for step in self.client.steps(b"w" if reckoner.now() % 1.0 < 0.6 else b""):
            self.last_tick = step.tick
            if self.mine:
                self.predict(step)

    def predict(self, step):
        self.own.step(step.input)
        self.client.predict(self.car, step.tick, self.own.state(), self.own.data())
        self.results[step.tick] = self.own.x

    def until(self, so):
        def both():
            self.client_step()
            return so()
        return self.world.until(both)

    def stats(self):
        return self.world.server.prediction_stats(self.world.peer)


@pytest.fixture
def drive():
    made = Drive()
    yield made
    made.world.close()


def test_both_ends_compute_the_same(drive):
    end = reckoner.now() + 1.5
    drive.until(lambda: reckoner.now() > end and drive.own is not None and drive.own.speed > 1.0)
    assert drive.corrections[0].reason == CorrectionReason.BEGINS
    last = drive.last_tick + 60
    drive.until(lambda: drive.last_tick >= last and last in drive.path and drive.stats()["results"] > 60)
    stats = drive.stats()
    assert stats["ticks"] > 60 and drive.seen_s > 0.0
    if stats["ticks_repeated"] == 0:  # the machine may be busy
        assert drive.results[last] == drive.path[last]
    figures = drive.client.stats()
    assert figures["input_lead_s"] != 0.0 and figures["mispredictions"] == len(drive.corrections)
    assert drive.client.shown_one(drive.car)["state"]["position"][0] == pytest.approx(drive.own.x, abs=1.0)
    assert drive.world.server.traffic()["prediction"][1] > 0


def test_a_push_is_corrected_and_replayed(drive):
    end = reckoner.now() + 1.0
    drive.until(lambda: reckoner.now() > end and drive.mine)
    pushed_s = 0.0

    def pushed():
        nonlocal pushed_s
        if drive.corrections[-1].reason == CorrectionReason.DIFFERS and drive.corrections[-1].steps:
            return True
        if reckoner.now() > pushed_s + 0.5:  # again: on a busy machine, the server may be ahead of the client's steps
            pushed_s = reckoner.now()
            drive.push_m = 3.0
        return False

    drive.until(pushed)
    found = drive.corrections[-1]
    assert [step.tick for step in found.steps] == list(range(found.tick + 1, found.tick + 1 + len(found.steps)))
    assert all(step.input in (b"w", b"") for step in found.steps)
    assert drive.client.shown_one(drive.car)
    debug = drive.client.debug(drive.car)
    assert debug["predicted"] == debug["corrected"] == debug["correction_had_result"] == 1
    assert debug["correction_tick"] == found.tick and debug["correction_reason"] == CorrectionReason.DIFFERS
    assert debug["correction_cause"] == CorrectionCause.DIFFERS and debug["correction_error_m"] > 1.0
    assert debug["prediction_corrections"] == len(drive.corrections) and debug["prediction_ticks"] > 0
    assert debug["prediction_newest"] == drive.last_tick
    kept = found.entities[0].state.copy()
    drive.until(lambda: drive.last_tick > found.tick + 60)
    assert found.entities[0].state == kept, "a correction that is kept does not change"


def test_what_is_wrong_is_refused(drive):
    drive.until(lambda: drive.mine and drive.last_tick > 0)
    server, peer, client = drive.world.server, drive.world.peer, drive.client
    for call, why in ((lambda: server.let_predict(99, peer), "no such entity"),
                      (lambda: server.let_predict(drive.car, 99), "no such client"),
                      (lambda: server.let_predict(drive.car, peer, position_m=0.0), "range"),
                      (lambda: server.give(drive.car, peer), "predicts"),
                      (lambda: server.set_game_state(drive.car, bytes(129)), "too long"),
                      (lambda: client.predict(drive.car, drive.last_tick + 1000, drive.own.state()), "has not stepped"),
                      (lambda: client.predict(99, drive.last_tick, drive.own.state()), "does not predict"),
                      (lambda: client.next_step(bytes(65)), "")):
        with pytest.raises(reckoner.ReckonerError, match=why):
            call()
    with pytest.raises(TypeError, match="position"):
        server.let_predict(drive.car, peer, position=0.1)
    assert server.input(99) == (b"", 0, 0.0) and server.prediction_stats(99) is None
    server.stop_prediction(drive.car, peer)
    drive.until(lambda: not drive.mine)
    with pytest.raises(reckoner.ReckonerError, match="does not predict"):
        server.stop_prediction(drive.car, peer)


def test_a_player_without_inputs_rests_after_a_while():
    world = World(repeat_input_s=0.1)
    car = world.server.spawn(reckoner.state())
    inputs = []

    def tick(_):
        world.server.move(car, reckoner.state())
        for client in world.server.clients():
            inputs.append(world.server.input(client))

    world.each_tick = tick
    client = world.join(input_delay_ticks=1)
    world.server.let_predict(car, world.peer)

    def play():
        assert all(step.tick > 0 for step in client.steps(b"left"))
        return inputs and inputs[-1].data == b"left" and inputs[-1].repeated == 0

    world.until(play)
    world.until(lambda: inputs[-1].repeated > 8)
    assert inputs[-1].data == b""
    world.close()
