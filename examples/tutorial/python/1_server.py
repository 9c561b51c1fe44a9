# SPDX-License-Identifier: MIT
import math
import sys

import reckoner

with reckoner.Server("127.0.0.1", int(sys.argv[1]), insecure=True) as server:
    print("listening on port", server.port, flush=True)
    ball = server.spawn(reckoner.state(), name="ball")
    while True:
        server.wait(0.002)  # until data arrives, at most 2 ms
        now = reckoner.now()
        server.receive(now)
        for t in server.ticks(now):  # 60 a second
            server.move(ball, reckoner.state(position=(6 * math.cos(t), 6 * math.sin(t), 0),
                                             velocity=(-6 * math.sin(t), 6 * math.cos(t), 0)))
