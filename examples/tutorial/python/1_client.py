# SPDX-License-Identifier: MIT
import sys

import reckoner
import window

with reckoner.Client("127.0.0.1", int(sys.argv[1]), insecure=True) as client:
    view = window.Window("Step 1")

    def picture(now):
        client.update(now)
        for at in client.shown_poses().positions:
            view.disc(at, 0.8, window.ORANGE)

    view.run(picture)
    print(len(client.shown_poses().entities), "entities were shown at the end")
