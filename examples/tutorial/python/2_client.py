# SPDX-License-Identifier: MIT
import sys

import numpy as np

import reckoner
import window

with reckoner.Client("127.0.0.1", int(sys.argv[1]), insecure=True) as client:
    view = window.Window("Step 2: arrow keys")
    mine, me = 0, None
    last = reckoner.now()

    def picture(now):
        global mine, me, last
        client.update(now)
        for event in client.events():
            if event.kind in (reckoner.ClientEventKind.GIVEN, reckoner.ClientEventKind.CORRECTED):
                mine, me = event.entity, client.owned(event.entity)  # go on from here
        if me is not None:
            wanted = 8.0 * np.array([*view.arrows(), 0.0])  # m/s
            me["velocity"] += 0.1 * (wanted - me["velocity"])
            me["position"] += me["velocity"] * (now - last)
            client.move(mine, me)
        last = now
        poses = client.shown_poses()
        for entity, at in zip(poses.entities, poses.positions):
            view.disc(at, 0.8, window.GREEN if entity == mine else window.ORANGE)

    view.run(picture)
    print(len(client.shown_poses().entities), "entities were shown at the end")
