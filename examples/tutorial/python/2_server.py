# SPDX-License-Identifier: MIT
import sys

import reckoner

with reckoner.Server("127.0.0.1", int(sys.argv[1]), insecure=True) as server:
    print("listening on port", server.port, flush=True)
    while True:
        server.wait(0.002)
        now = reckoner.now()
        server.receive(now)
        for event in server.events():
            if event.kind == reckoner.ServerEventKind.CLIENT_JOINED:
                body = server.spawn(reckoner.state(), name="player")
                server.give(body, event.client, gone=reckoner.OwnerGone.DESPAWN)  # event.client: who has joined
        for _ in server.ticks(now):  # the players move everything
            pass
