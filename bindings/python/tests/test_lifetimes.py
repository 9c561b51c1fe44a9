# SPDX-License-Identifier: MIT
"""The library writes into numpy's memory. What a program keeps does not change, and memory is used again."""
import gc

import numpy as np

import reckoner


def moving(world, count):
    ids = [world.server.spawn(reckoner.state(position=(i, 0, 0), velocity=(10, 0, 0))) for i in range(count)]

    def move(time_s):
        for i, entity in enumerate(ids):
            world.server.move(entity, reckoner.state(position=(i + 10 * time_s, 0, 0), velocity=(10, 0, 0)))

    world.each_tick = move
    return ids


def test_arrays_are_views_of_the_same_memory_frame_after_frame(world):
    moving(world, 3)
    client = world.join()
    now = world.until(lambda: len(client.shown()) == 3)
    addresses = set()
    for i in range(100):
        client.update(now + 0.001 * i)
        poses, shown = client.shown_poses(), client.shown()
        addresses.add((poses.positions.ctypes.data, shown.ctypes.data))
        assert not poses.positions.flags.owndata and not shown.flags.owndata
        del poses, shown
    assert len(addresses) == 1


def test_kept_arrays_do_not_change(world):
    moving(world, 3)
    client = world.join()
    now = world.until(lambda: len(client.shown()) == 3)
    kept, copies = [], []
    for i in range(20):
        client.update(now + 0.01 * i)
        poses, shown = client.shown_poses(), client.shown()
        kept += [poses.positions[1:], shown["state"]["position"]]  # views of views
        copies += [poses.positions[1:].copy(), shown["state"]["position"].copy()]
    assert not np.array_equal(kept[0], kept[-2])
    for array, copy in zip(kept, copies):
        np.testing.assert_array_equal(array, copy)


def test_arrays_survive_the_client(world):
    moving(world, 50)
    client = world.join()
    world.until(lambda: len(client.shown()) == 50)
    poses, shown = client.shown_poses(), client.shown()
    expected = poses.positions.copy()
    client.close()
    world.server.close()
    gc.collect()
    ballast = [np.ones(10000) for _ in range(100)]  # would overwrite freed memory
    np.testing.assert_array_equal(poses.positions, expected)
    assert (shown["struct_size"] == reckoner.SHOWN.itemsize).all() and ballast


def test_a_forgotten_client_is_closed():
    server = reckoner.Server("127.0.0.1", insecure=True)
    port = server.port
    del server
    gc.collect()
    with reckoner.Server("127.0.0.1", port, insecure=True) as again:
        assert again.port == port
