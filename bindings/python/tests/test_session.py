# SPDX-License-Identifier: MIT
"""A game in Python, from one end to the other, over sealed connections."""
import math

import numpy as np
import pytest
from conftest import World

import reckoner
from reckoner import Archetype, ClientEventKind, Delivery, Field, ServerEventKind, Status, ValueType


def test_poses_arrive_and_the_views_agree(world):
    ids = [world.server.spawn(reckoner.state(position=(i, 2, 3), orientation=(0, 0, 0.6, 0.8)), name=f"car{i}")
           for i in range(100)]  # more than fit into the arrays at first
    client = world.join()
    world.until(lambda: len(client.shown_poses().entities) == 100)
    poses, shown = client.shown_poses(), client.shown()
    assert sorted(poses.entities) == sorted(shown["entity"]) == sorted(ids)
    by_entity = {entity: i for i, entity in enumerate(poses.entities)}
    for one in shown:
        i = by_entity[one["entity"]]
        np.testing.assert_allclose(poses.positions[i], one["state"]["position"], atol=1e-6)
        np.testing.assert_allclose(poses.positions[i], [ids.index(one["entity"]), 2, 3], atol=0.05)
        np.testing.assert_allclose(poses.orientations[i], [0, 0, 0.6, 0.8], atol=0.01)
    single = client.shown_one(ids[5])
    assert repr(single) == repr(shown[shown["entity"] == ids[5]][0])
    assert client.name(ids[5]) == "car5" and client.name(999) is None


def test_a_moving_entity_is_shown_where_it_is(world):
    def circle(time_s):
        return reckoner.state(position=(20 * math.cos(time_s), 20 * math.sin(time_s), 0),
                              velocity=(-20 * math.sin(time_s), 20 * math.cos(time_s), 0))

    car = world.server.spawn(circle(0.0))
    world.each_tick = lambda time_s: world.server.move(car, circle(time_s))
    client = world.join()
    start = reckoner.now()
    now = world.until(lambda: reckoner.now() > start + 2.0 and world.shows(client, car))
    server_time = client.server_time()
    one = client.shown_one(car)
    assert np.linalg.norm(one["state"]["position"] - circle(server_time)["position"]) < 1.0
    assert np.linalg.norm(one["state"]["velocity"]) == pytest.approx(20.0, rel=0.2)
    debug, truth = client.debug(car), world.server.debug(car)
    assert debug["entity"] == car and debug["threshold_m"] > 0 and truth["clients"] == 1
    assert np.linalg.norm(debug["shown"]["position"] - one["state"]["position"]) < 1e-9
    state, time_s = world.server.published(car)
    assert time_s <= now and np.linalg.norm(state["position"]) == pytest.approx(20.0, abs=0.5)


def test_fields_of_every_type_arrive():
    kind = Archetype("tank", fields=(
        Field("alive", ValueType.BOOLEAN, initial=True), Field("health", least=0, most=100, initial=100),
        Field("heat", ValueType.REAL, least=-50, most=150, step=0.5), Field("tag", ValueType.BLOB, most_bytes=16)))
    world = World(archetypes=(kind,))
    tank = world.server.spawn(reckoner.state())
    client = world.join()
    world.until(lambda: world.shows(client, tank))
    assert [client.field(tank, i) for i in range(4)] == [True, 100, 0.0, b""]
    for name, value in (("alive", False), ("health", 42), ("heat", 20.3), ("tag", "grün")):
        world.server.set_field(tank, kind.field(name), value)
    world.until(lambda: client.field(tank, 3) == "grün".encode())
    assert [client.field(tank, i) for i in range(3)] == [False, 42, 20.5]
    assert world.server.field(tank, kind.field("heat")) == 20.5
    assert world.had(client, ClientEventKind.FIELDS_CHANGED, tank)
    with pytest.raises(reckoner.ReckonerError):
        world.server.set_field(tank, kind.field("health"), 1.5)  # the wrong type
    with pytest.raises(ValueError):
        world.server.set_field(tank, kind.field("tag"), b"x" * 65)
    traffic = world.server.traffic()
    assert sum(bits for _, bits in traffic.values()) == 8 * world.server.stats()["state_bytes_sent"]
    of_archetype = world.server.archetype_traffic(0)
    assert of_archetype["field"] == traffic["field"] and list(of_archetype) == list(traffic)[:5]
    count, bits = world.server.field_traffic(0, kind.field("health"))
    assert count > 0 and bits == 7 * count
    of_tank = world.server.traffic_of(tank)
    assert of_tank["motion_bits"] + of_tank["spawn_bits"] + of_tank["field_bits"] == sum(b for _, b in of_archetype.values())
    world.close()


def test_names_are_looked_up_and_errors_list_the_known_ones():
    kinds = (Archetype("tram"), Archetype("car", fields=(Field("health"), Field("fuel"))))
    assert [reckoner.find_archetype(kinds, kind.name) for kind in kinds] == [0, 1]
    assert kinds[1].field("fuel") == 1
    with pytest.raises(reckoner.ReckonerError, match="no archetype 'cat'; the archetypes are 'car', 'tram'"):
        reckoner.find_archetype(kinds, "cat")
    with pytest.raises(reckoner.ReckonerError, match="its fields are 'fuel', 'health'"):
        kinds[1].field("full")
    for before in range(4):
        with pytest.raises(reckoner.ReckonerError, match="no archetype 'x*ü+'; the archetypes"):
            reckoner.find_archetype(kinds, before * "x" + 100 * "ü")


def test_messages_and_identity(world):
    client = world.join()
    world.until(lambda: client.server_time() is not None)
    world.server.send(b"hello", world.peer)
    got = []
    world.until(lambda: got.extend(client.messages()) or got)
    assert got[0].data == b"hello" and got[0].sender == 0 and got[0].time_s is None
    client.send(b"fire", delivery=Delivery.UNRELIABLE, time_s=client.server_time())
    client.flush()
    back = []
    world.until(lambda: back.extend(world.server.messages()) or back)
    assert back[0].data == b"fire" and back[0].sender == world.peer and back[0].time_s is not None
    number, data = world.server.identity(world.peer)
    assert number == 7000 and data.rstrip(b"\0") == b"player"
    assert client.ticket() is not None


def test_broadcast_names_its_clients(world):
    client = world.join()
    server, how = world.server, Delivery.RELIABLE_UNORDERED
    tank = server.spawn(reckoner.state())
    world.until(lambda: world.had(client, ClientEventKind.SPAWNED, tank))
    server.set_view(world.peer, (10, 0, 0))
    assert server.broadcast(b"1", delivery=how) == 1
    assert server.broadcast(b"x", without=world.peer) == 0
    assert server.broadcast(b"2", clients=[world.peer, world.peer, 77], delivery=how) == 1
    assert server.broadcast(b"3", within=((0, 0, 0), 10), delivery=how) == 1
    assert server.broadcast(b"x", within=((0, 0, 0), 9)) == 0
    assert server.broadcast(b"4", seeing=tank, delivery=how) == 1
    with pytest.raises(ValueError):
        server.broadcast(b"x", clients=[], seeing=tank)
    with pytest.raises(reckoner.ReckonerError):
        server.broadcast(b"x", seeing=12345)
    got = []
    world.until(lambda: got.extend(m.data for m in client.messages()) or len(got) == 4)
    assert sorted(got) == [b"1", b"2", b"3", b"4"]


def test_kick_tells_the_reason(world):
    client = world.join()
    assert list(world.server.clients()) == [world.peer]
    figures = world.server.session_stats(world.peer)
    assert figures["connected"] == 1 and 0.0 <= figures["loss"] <= 1.0
    assert world.server.kick_player(7, "cheating") == 0, "an insecure server knows no players"
    assert world.server.kick(world.peer, "cheating: speed")
    with pytest.raises(reckoner.RefusedError, match="kicked by the server: cheating: speed"):
        world.until(lambda: False)
    assert client.status == Status.REFUSED and "cheating: speed" in client.refusal
    assert not world.server.kick(world.peer)
    assert world.server.session_stats(world.peer) is None


def test_predicted_short_lived_spawn(world):
    client = world.join()
    now = world.until(lambda: client.server_time() is not None)
    muzzle = reckoner.state(position=(1, 0, 1), velocity=(50, 0, 0))
    predicted = client.predict_spawn(0, muzzle, 77, 5.0)
    assert world.shows(client, predicted)
    end_s = now + 100.0
    shot = world.server.spawn_short_lived(muzzle, end_s=end_s, data=b"rocket", predicted_by=world.peer, prediction=77)
    world.until(lambda: world.had(client, ClientEventKind.SPAWNED, shot))
    event = next(e for e in world.events[client] if e.entity == shot)
    assert event.predicted == predicted
    data, told = client.short_lived(shot)
    assert data == b"rocket" and told == pytest.approx(end_s, abs=0.01)
    client.set_user_value(shot, 2**63)
    assert client.user_value(shot) == 2**63

    refused = client.predict_spawn(0, muzzle, 78, 60.0)
    world.server.refuse_prediction(world.peer, 78)
    world.until(lambda: world.had(client, ClientEventKind.PREDICTION_FAILED, refused))
    dropped = client.predict_spawn(0, muzzle, 79, 60.0)
    client.drop_prediction(dropped)
    assert not world.shows(client, dropped)


def test_ownership(world):
    avatar = world.server.spawn(reckoner.state(), name="avatar")
    client = world.join()
    world.until(lambda: world.shows(client, avatar))
    assert client.owned(avatar) is None
    motion = client.motion_at(avatar, client.server_time())
    np.testing.assert_allclose(motion["position"], [0, 0, 0], atol=0.1)
    assert client.motion_at(avatar + 1, client.server_time()) is None
    world.server.give(avatar, world.peer, max_teleport_m=30)
    world.until(lambda: world.had(client, ClientEventKind.GIVEN, avatar))
    assert world.server.owner(avatar) == world.peer
    start = client.owned(avatar)
    assert np.linalg.norm(start["position"]) < 0.1 and client.owned_frame(avatar) == 0
    world.until(lambda: client.move(avatar, reckoner.state(position=(0.5, 0, 0))) and
                np.linalg.norm(world.server.state(avatar)["position"] - [0.5, 0, 0]) < 0.1)
    assert world.until(lambda: client.teleport(avatar, reckoner.state(position=(20, 0, 0))))
    world.until(lambda: client.move(avatar, reckoner.state(position=(20, 0, 0))) and
                np.linalg.norm(world.server.state(avatar)["position"] - [20, 0, 0]) < 0.1)
    assert world.server.stats()["owned_teleports"] == 1
    with pytest.raises(reckoner.ReckonerError, match="owns"):
        world.server.move(avatar, reckoner.state())
    assert world.server.revoke(avatar) and not world.server.revoke(avatar)
    world.until(lambda: world.had(client, ClientEventKind.REVOKED, avatar))


def test_entities_near_frames_groups_and_routes(world):
    server = world.server
    ids = [server.spawn(reckoner.state(position=(10 * i, 0, 0))) for i in range(100)]
    assert list(server.entities()) == ids
    assert list(server.entities_near((0, 0, 0), 25)) == ids[:3]
    server.set_user_value(ids[0], 11)
    assert server.user_value(ids[0]) == 11
    server.enter_frame(ids[1], ids[0])
    world.step()
    world.until(lambda: server.frame_of(ids[1]) == ids[0])
    np.testing.assert_allclose(server.in_world(ids[1])["position"], [10, 0, 0], atol=1e-9)
    server.set_boardable(ids[0], True)
    with pytest.raises(reckoner.ReckonerError):
        server.set_boardable(12345, True)
    route = server.add_route(np.array([[0, 0, 0], [10, 0, 0], [20, 5, 0]]), tolerance_m=0.01)
    length = server.route_length(route)
    assert 20 < length < 25
    assert server.route_nearest(route, (10, 0, 1))[1] == pytest.approx(1.0, abs=0.05)
    server.follow(ids[2], route)
    server.move_along(ids[2], 5.0, 1.0)
    server.leave_route(ids[2])
    tcb = server.add_route([], kind=reckoner.RouteKind.TCB, keys=[{"time": i, "position": (i * 10, 0, 0)} for i in range(4)])
    assert server.route_length(tcb) == pytest.approx(30, rel=0.1)
    with pytest.raises(reckoner.ReckonerError):
        server.add_route([[0, 0, 0]])
    client = world.join()
    world.until(lambda: world.shows(client, ids[5]))
    server.set_relevance(ids[5], reckoner.Relevance.NEVER)
    server.set_entity_groups(ids[6], 2)
    server.set_client_groups(world.peer, 1)
    server.set_view(world.peer, (0, 0, 0))
    world.until(lambda: not world.shows(client, ids[5]) and not world.shows(client, ids[6]))


def test_rewind():
    world = World(rewind_s=1.0)
    target = world.server.spawn(reckoner.state(position=(4, 5, 6)))
    client = world.join()
    world.until(lambda: world.shows(client, target))
    known = []

    def look():  # the server learns what a client showed a moment later
        poses = client.shown_poses()
        known.extend([poses.shown_time_s] if len(poses.entities) else [])
        return any(world.server.rewind_status(world.peer, t) == reckoner.RewindStatus.KNOWN for t in known[-100:])

    world.until(look)
    at = next(t for t in known[-100:] if world.server.rewind_status(world.peer, t) == reckoner.RewindStatus.KNOWN)
    assert world.server.rewind_status(world.peer, at - 100.0) == reckoner.RewindStatus.UNAVAILABLE
    np.testing.assert_allclose(world.server.pose_seen_by(world.peer, target, at).position, [4, 5, 6], atol=0.1)
    seen = world.server.rewind(world.peer, at)
    assert list(seen["entity"]) == [target]
    np.testing.assert_allclose(seen["pose"]["position"][0], [4, 5, 6], atol=0.1)
    world.close()


def test_floor_keeps_bodies_above_the_ground():
    heights = []

    def terrain(x, y, z):
        heights.append(x)
        return 1.0

    for floor in (reckoner.Plane(height_m=1.0), terrain):
        kind = Archetype("body", floor=floor)
        world = World(archetypes=(kind,))
        body = world.server.spawn(reckoner.state(position=(0, 0, 1), velocity=(0, 0, -1)))
        client = world.join()
        start = reckoner.now()
        lowest = [9.0]

        def look():
            one = client.shown_one(body)
            if one is not None:
                lowest[0] = min(lowest[0], one["state"]["position"][2])
            return reckoner.now() > start + 0.5 and one is not None

        world.until(look)
        assert lowest[0] > 0.97
        world.close()
    assert heights


def test_walls_stop_predicted_bodies():
    calls = []

    def reach(start, end):
        calls.append(start)
        return [min(end[0], 2.0), end[1], end[2]]

    box = reckoner.WallBox(centre=(3, 0, 0), half_size=(1, 5, 5))
    for walls in ({"walls": (box,)}, {"wall_reach": reach}):
        kind = Archetype("body", velocity=reckoner.VelocitySource.GIVEN, **walls)
        world = World(archetypes=(kind,))
        body = world.server.spawn_short_lived(reckoner.state(velocity=(5, 0, 0)))
        client = world.join()
        furthest = [0.0]
        start = reckoner.now()

        def look():
            one = client.shown_one(body)
            if one is not None:
                furthest[0] = max(furthest[0], one["state"]["position"][0])
            return reckoner.now() > start + 0.8 and one is not None

        world.until(look)
        assert 1.9 < furthest[0] < 2.01
        world.close()
    assert calls


def test_pause_playout_and_correction(world):
    car = world.server.spawn(reckoner.state(velocity=(1, 0, 0)))
    world.each_tick = lambda t: world.server.move(car, reckoner.state(position=(t, 0, 0), velocity=(1, 0, 0)))
    client = world.join()
    now = world.until(lambda: world.shows(client, car))
    client.set_paused(True)
    frozen = client.shown_poses().positions.copy()
    world.until(lambda: reckoner.now() > now + 0.3)
    np.testing.assert_array_equal(client.shown_poses().positions, frozen)
    client.set_paused(False)
    gentle = reckoner.blend_settings(reckoner.BlendProfile.GENTLE)
    assert gentle["blend_curve"] == reckoner.BlendCurve.DAMPED and gentle["blend_s"] == 0.25
    with pytest.raises(reckoner.ReckonerError):
        client.set_playout(blend_curve=2)
    client.set_playout(mode=reckoner.Mode.DELAYED, delay_s=0.1, **gentle)
    world.until(lambda: client.stats()["delay_s"] > 0.05)
    world.step()
    one = client.shown_one(car)
    state = one["state"].copy()
    state["position"][1] = 3.0
    client.correct(car, state)
    client.correct(car, state, anticipated_s=0.2)
    client.set_origin((100, 0, 0))
    assert world.until(lambda: world.shows(client, car)) > 0


def test_refusals_are_counted_and_events_of_the_server_tell_names(world):
    world.join()
    assert any(event.kind == ServerEventKind.CLIENT_JOINED for event in world.server_events)
    counts = world.server.refused()
    assert "malformed" in counts and counts["malformed"] == (0, 0)
    assert set(world.clients[0].refused()) == set(counts)
    assert world.server.stats()["clients"] == 1


def test_game_clock_and_frames():
    clock = reckoner.GameClock(10.0, 0.0)
    clock.set_scale(0.5, 20.0, 0.0)
    assert clock.at(22.0) == pytest.approx(11.0) and clock.scale_at(22.0) == 0.5
    assert clock.real_time_of(11.0) == pytest.approx(22.0)
    ship = reckoner.state(position=(5, 0, 0), velocity=(1, 0, 0))
    local = reckoner.state(position=(0, 2, 0))
    outer = reckoner.out_of_frame(ship, local)
    np.testing.assert_allclose(outer["position"], [5, 2, 0])
    np.testing.assert_allclose(reckoner.into_frame(ship, outer)["position"], [0, 2, 0], atol=1e-12)


def test_log_lines_reach_python():
    lines = []
    world = World(log=lambda level, line: lines.append((level, line)), log_least=0)
    world.join()
    world.close()
    assert any("client" in line for _, line in lines)
