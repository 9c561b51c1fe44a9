#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Joins a server from Python and prints the position of every entity, 60 times a second. It needs no compiler.

watch.py HOST PORT [SECONDS]      exits with 0 if it showed at least one entity

The server must accept clients without tokens (insecure), and its only archetype must be the default one, "entity".
If the system does not find libreckoner, the environment variable RECKONER_LIBRARY gives its path.
"""
# snip: python
import ctypes as c
import os
import sys
import time

lib = c.CDLL(os.environ.get("RECKONER_LIBRARY", "libreckoner.so.2"))


class Archetype(c.Structure):  # as in reckoner.h; "rest" covers unused members
    _fields_ = [("struct_size", c.c_uint32), ("field_count", c.c_uint32), ("name", c.c_char_p), ("rest", c.c_uint64 * 6)]


class ClientConfig(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("archetype_count", c.c_uint32), ("archetypes", c.POINTER(Archetype)),
                ("host", c.c_char_p), ("port", c.c_uint16), ("reserved", c.c_uint16), ("insecure", c.c_int32)]


class Event(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("kind", c.c_int32), ("entity", c.c_uint64)]


class Poses(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("reserved", c.c_uint32), ("count", c.c_size_t),
                ("entities", c.POINTER(c.c_uint64)), ("positions", c.POINTER(c.c_double)),
                ("orientations", c.POINTER(c.c_float)), ("shown_time_s", c.c_double)]


lib.reckoner_client_update.argtypes = [c.c_void_p, c.c_double]
lib.reckoner_client_poll_event.argtypes = [c.c_void_p, c.POINTER(Event)]
lib.reckoner_client_shown_poses.argtypes = [c.c_void_p, c.POINTER(Poses)]
lib.reckoner_client_name.argtypes = [c.c_void_p, c.c_uint64]
lib.reckoner_client_name.restype = c.c_char_p
lib.reckoner_client_status.argtypes = lib.reckoner_client_destroy.argtypes = [c.c_void_p]
CONNECTING, JOINING, JOINED = 0, 1, 2

kind, config, client, why = Archetype(), ClientConfig(), c.c_void_p(), c.create_string_buffer(200)
lib.reckoner_archetype_init(c.byref(kind), c.sizeof(kind))
lib.reckoner_client_config_init(c.byref(config), c.sizeof(config))
config.archetypes, config.archetype_count, config.insecure = c.pointer(kind), 1, 1
config.host, config.port = sys.argv[1].encode(), int(sys.argv[2])
seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 1e9
if lib.reckoner_client_create(c.byref(config), c.byref(client), why, len(why)) != 0:
    sys.exit(why.value.decode())

seen, start = 0, time.monotonic()
poses, event = Poses(struct_size=c.sizeof(Poses)), Event(struct_size=c.sizeof(Event))
while time.monotonic() < start + seconds and lib.reckoner_client_status(client) <= JOINED:
    now = time.monotonic()
    lib.reckoner_client_update(client, now)
    while lib.reckoner_client_poll_event(client, c.byref(event)) == 0:
        pass  # joined, spawned, despawned, teleported...
    lib.reckoner_client_shown_poses(client, c.byref(poses))
    for i in range(poses.count):
        name = lib.reckoner_client_name(client, poses.entities[i]).decode()
        x, y, z = poses.positions[3 * i : 3 * i + 3]
        print(f"{now - start:.3f} {name} {x:.3f} {y:.3f} {z:.3f}")
        seen += 1
    time.sleep(0.016)
lib.reckoner_client_destroy(client)
sys.exit(0 if seen else 1)
# snip: end
