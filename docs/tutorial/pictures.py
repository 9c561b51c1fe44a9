#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the pictures of the tutorial from its running programs.

pictures.py PROGRAMS BUILD      PROGRAMS: the folder of reckoner-harness; BUILD: where examples/tutorial was built

Needs Pillow and the font DejaVu Sans (Debian: python3-pil, fonts-dejavu-core).
"""
import pathlib
import sys
import tempfile

from PIL import Image, ImageDraw, ImageFont

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parents[1] / "tests/consumer"))
import tutorial  # noqa: E402  (the test of the tutorial runs the same programs)

FONT = ImageFont.truetype("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", 14)
BAR, GAP = 26, 14


def framed(picture, title):
    """A picture with a title bar."""
    image = Image.new("RGB", (picture.width + 2, picture.height + BAR + 1), (90, 96, 120))
    image.paste(picture, (1, BAR))
    ImageDraw.Draw(image).text((10, 5), title, fill=(240, 240, 240), font=FONT)
    return image


def side_by_side(windows):
    whole = Image.new("RGB", (sum(each.width + GAP for each in windows) - GAP, windows[0].height), (255, 255, 255))
    x = 0
    for each in windows:
        whole.paste(each, (x, 0))
        x += each.width + GAP
    return whole


def main():
    steps = tutorial.Steps(build=pathlib.Path(sys.argv[2]), programs=pathlib.Path(sys.argv[1]))
    for page in sorted(FOLDER.glob("0*.md")):
        step = page.stem[:2]
        with tempfile.TemporaryDirectory() as folder:
            run = steps.play(step, pathlib.Path(folder))
            windows = [framed(Image.open(window.picture).convert("RGB"), window.title) for window in run.windows]
            side_by_side(windows).quantize(32).save(FOLDER / f"{page.stem}.png", optimize=True)
        print(page.stem)


if __name__ == "__main__":
    main()
