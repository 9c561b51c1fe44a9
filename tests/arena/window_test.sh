#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Plays the game for a few seconds on a screen in memory: window_test.sh SOURCE BUILD PROGRAMS WINDOW.
# xdotool presses the keys of the player. Exits with 77 (skipped) without SDL, Xvfb or xdotool.
set -euo pipefail
source=$1 build=$2 window=${4:-}
export RECKONER_PROGRAM_DIR=$3
skip() { echo "skipped: $*"; exit 77; }
[[ -x $window ]] || skip "the game was built without SDL"
command -v Xvfb >/dev/null || skip "Xvfb is missing"
command -v xdotool >/dev/null || skip "xdotool is missing"
# SDL, fonts and X keep memory until the end; the sanitizers watch the game's own memory in the other tests.
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 SDL_AUDIODRIVER=dummy

folder=$(mktemp -d)
trap 'echo "failed in line $LINENO"' ERR
trap 'kill "$xvfb" 2>/dev/null && wait "$xvfb" || true; rm -rf "$folder"' EXIT
cd "$folder"
Xvfb -displayfd 3 -screen 0 1280x800x24 -nolisten tcp -fbdir . 3>display 2>xvfb.log &
xvfb=$!
for _ in {1..100}; do
  [[ -s display ]] && break
  kill -0 "$xvfb" 2>/dev/null || skip "Xvfb does not start: $(cat xvfb.log)"
  sleep 0.1
done
DISPLAY=:$(tr -d '\n' <display)
export DISPLAY

# picture FILE: copies the screen, which is the file Xvfb_screen0.
picture() { cp Xvfb_screen0 "$1"; }

"$source/examples/arena/play.sh" "$build" --network lan >figures.txt &
game=$!
window=$(timeout 60 xdotool search --sync --onlyvisible --name 'Reckoner arena' | head -n 1)
sleep 2
picture menu.xwd
xdotool windowfocus "$window" key Down key Down key Return key Up key Up key Return  # the next mode, then play
sleep 1
picture game.xwd
xdotool keydown w keydown j sleep 1 key F1 key F2 key F3
sleep 3
picture overlay.xwd
xdotool keyup j keyup w key Escape key Up key Return  # quit
wait "$game"
cat figures.txt
grep -Eq ' (4[6-9]|[5-9][0-9]) entities' figures.txt  # 40 bots, 4 riders, the platform, the player, 4 doors
for picture in menu game overlay; do
  (($(tr -d '\0' <$picture.xwd | wc -c) > 1000000))  # 1280 x 800 pixels, not black
done
! cmp -s menu.xwd game.xwd
! cmp -s game.xwd overlay.xwd

# The bad network takes changes while it runs, and says which of them it does not understand.
printf 'network=mobile\nnetwork=nowhere\nloss=3\n' >commands.txt
"$RECKONER_PROGRAM_DIR/reckoner-harness" conditioner --listen 0 --to 127.0.0.1:9 --control --seconds 0.5 \
  <commands.txt 2>control.txt
[[ $(grep -c control: control.txt) == 1 ]]
grep -q nowhere control.txt
echo passed
