#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A hundred players in one process: each is a client that owns an avatar and runs towards the nearest other one.

bots.py serve [PORT]                                the server, which gives every client an avatar
bots.py HOST PORT [--bots N] [--seconds S]          the bots; prints how well they kept 60 frames per second

Exits with 1 if a bot did not get its avatar.
"""
import argparse
import math
import time

import numpy as np

import reckoner

SPEED_MPS, TURN_RADPS, FRAME_S = 4.0, 1.5, 1.0 / 60.0


def serve(port: int) -> None:
    with reckoner.Server("127.0.0.1", port, insecure=True, peers_per_address=1000, max_clients=1000,
                         handshakes_per_second=0, tokens_per_second=0, limit_address_datagrams_per_second=0,
                         limit_address_bytes_per_second=0, interest_radius_m=40) as server:
        print("listening on port", server.port, flush=True)
        avatars = {}
        while True:
            server.wait(0.004)
            now = reckoner.now()
            server.receive(now)
            for event in server.events():
                if event.kind == reckoner.ServerEventKind.CLIENT_LEFT:
                    avatars.pop(event.client, None)
                elif event.kind == reckoner.ServerEventKind.CLIENT_JOINED:
                    angle = 2.4 * event.client  # on a spiral, apart from each other
                    at = 8.0 * np.sqrt(event.client) * np.array([np.cos(angle), np.sin(angle), 0.0])
                    avatars[event.client] = server.spawn(reckoner.state(position=at), name=f"bot {event.client}")
                    server.give(avatars[event.client], event.client, gone=reckoner.OwnerGone.DESPAWN)
            for _ in server.ticks(now):  # the owners move everything
                for client, avatar in avatars.items():
                    server.set_view(client, server.state(avatar)["position"])


class Bot:
    def __init__(self, host: str, port: int) -> None:
        self.client = reckoner.Client(host, port, insecure=True)
        self.avatar = 0
        self.state = reckoner.state()
        self.heading = 0.0
        self.seen = 0

    def frame(self, now_s: float) -> None:
        client = self.client
        client.update(now_s)
        for event in client.events():
            if event.kind in (reckoner.ClientEventKind.GIVEN, reckoner.ClientEventKind.CORRECTED):
                self.avatar, self.state = event.entity, client.owned(event.entity)
        poses = client.shown_poses()
        self.seen = len(poses.entities)
        if not self.avatar:
            return
        self.steer(poses)
        client.move(self.avatar, self.state)

    def steer(self, poses: reckoner.Poses) -> None:
        """Turns towards the nearest other avatar, or away from it if it is close, as fast as a runner turns."""
        x, y, _ = self.state["position"]
        away = poses.positions[:, :2] - (x, y)
        distances = np.einsum("ij,ij->i", away, away)
        distances[poses.entities == self.avatar] = np.inf
        if self.seen > 1:
            nearest = distances.argmin()
            to_x, to_y = away[nearest] * (1.0 if distances[nearest] > 9.0 else -1.0)
            wanted = math.atan2(to_y, to_x) - self.heading
            turn = math.atan2(math.sin(wanted), math.cos(wanted))  # by the smaller angle
            self.heading += max(-TURN_RADPS, min(TURN_RADPS, turn)) * FRAME_S
        vx, vy = SPEED_MPS * math.cos(self.heading), SPEED_MPS * math.sin(self.heading)
        self.state["velocity"] = vx, vy, 0.0
        self.state["position"] = x + vx * FRAME_S, y + vy * FRAME_S, 0.0


def play(host: str, port: int, count: int, seconds: float) -> int:
    bots = [Bot(host, port) for _ in range(count)]
    joined_s = reckoner.now()
    end_s = time.monotonic() + 60.0  # to join
    while time.monotonic() < end_s and not all(bot.avatar for bot in bots):
        for bot in bots:
            bot.frame(reckoner.now())
        time.sleep(FRAME_S)
    late_s, frames, cpu_s = [], 0, time.process_time()
    start_s = next_s = reckoner.now()
    while next_s < start_s + seconds:
        for bot in bots:
            bot.frame(reckoner.now())
        frames += 1
        next_s += FRAME_S
        late_s.append(max(0.0, reckoner.now() - next_s))
        time.sleep(max(0.0, next_s - reckoner.now()))
    took_s = reckoner.now() - start_s
    without = sum(not bot.avatar for bot in bots)
    updates = sum(bot.client.stats()["updates_applied"] for bot in bots) / count / (reckoner.now() - joined_s)
    print(f"{count} bots, each shows {min(bot.seen for bot in bots)} to {max(bot.seen for bot in bots)} entities: "
          f"{frames / took_s:.1f} frames/s each; frames end late by {1e3 * np.percentile(late_s, 99):.1f} ms (p99); "
          f"{updates:.0f} updates/s each; {100 * (time.process_time() - cpu_s) / took_s:.0f} % of one core; {without} without an avatar")
    for bot in bots:
        bot.client.close()
    return 1 if without else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("host")
    parser.add_argument("port", nargs="?", type=int, default=0)
    parser.add_argument("--bots", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=10.0)
    given = parser.parse_args()
    raise SystemExit(serve(given.port) if given.host == "serve" else
                     play(given.host, given.port, given.bots, given.seconds))
