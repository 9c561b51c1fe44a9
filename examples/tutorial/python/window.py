# SPDX-License-Identifier: MIT
"""The window of the tutorial in Python: it contains what Tk needs, and nothing of Reckoner.

Options after the port replace a person: --seconds N closes the window, --right holds the right arrow."""
import sys
import tkinter

import reckoner

GREEN, ORANGE, GREY = "#70e090", "#ffb040", "#9696aa"
PIXELS_PER_M = 20


class Window:
    def __init__(self, title):
        self.root = tkinter.Tk()
        self.root.title(title)
        self.canvas = tkinter.Canvas(self.root, width=640, height=400, bg="#1c2030", highlightthickness=0)
        self.canvas.pack()
        self.keys = {"Right"} if "--right" in sys.argv else set()
        self.root.bind("<KeyPress>", lambda event: self.keys.add(event.keysym))
        self.root.bind("<KeyRelease>", lambda event: self.keys.discard(event.keysym))
        seconds = float(sys.argv[sys.argv.index("--seconds") + 1]) if "--seconds" in sys.argv else 1e9
        self.end_s = reckoner.now() + seconds

    def run(self, picture):
        """Calls picture(now) about 60 times a second, until the window is closed."""
        def again():
            self.canvas.delete("all")
            picture(reckoner.now())
            if reckoner.now() < self.end_s:
                self.root.after(16, again)
            else:
                self.root.destroy()
        again()
        self.root.mainloop()

    def arrows(self):
        """The arrow keys that are held: x to the right and y up, each -1, 0 or 1."""
        return (("Right" in self.keys) - ("Left" in self.keys), ("Up" in self.keys) - ("Down" in self.keys))

    def disc(self, at, radius_m, color):
        x, y, r = 320 + PIXELS_PER_M * at[0], 200 - PIXELS_PER_M * at[1], PIXELS_PER_M * radius_m
        self.canvas.create_oval(x - r, y - r, x + r, y + r, fill=color, outline="")
