# SPDX-License-Identifier: MIT
import collections
import sys

import reckoner
import window

with reckoner.Client("127.0.0.1", int(sys.argv[1]), insecure=True) as client:
    view = window.Window("Step 3: 1 and 2 change the mode")
    trail = collections.deque(maxlen=180)  # three seconds

    def picture(now):
        client.update(now)
        if "1" in view.keys:
            client.set_playout(mode=reckoner.Mode.PRESENT)
        if "2" in view.keys:
            client.set_playout(mode=reckoner.Mode.ADAPTIVE)
        poses = client.shown_poses()
        for entity, at in zip(poses.entities, poses.positions):
            known = client.motion_at(entity, poses.shown_time_s)  # without the blend
            if known is not None:
                trail.append((at, known["position"].copy()))
            view.disc(at, 0.8, window.ORANGE)
        for shown, known in trail:
            view.disc(known, 0.12, window.GREY)
            view.disc(shown, 0.12, window.ORANGE)

    view.run(picture)
    print(len(client.shown_poses().entities), "entities were shown at the end")
