#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Starts the arena's server, a bad network and one or more windows: play.sh BUILD [OPTIONS].
# Options: --clients N, --network NAME, --authority own|predicted|server. BUILD is the build folder. `./dev play`
# builds everything and calls this script.
set -euo pipefail
build=$1
shift
programs=${RECKONER_PROGRAM_DIR:-$build/../bin}
clients=1 network=intercity authority=predicted
while (($# > 1)); do
  case $1 in
    --clients) clients=$2 ;;
    --network) network=$2 ;;
    --authority) authority=$2 ;;
    *) break ;;
  esac
  shift 2
done
(($# == 0)) || { echo "usage: ./dev play [--clients N] [--network NAME] [--authority own|predicted|server]" >&2; exit 2; }
[[ $clients =~ ^[1-8]$ ]] || { echo "--clients must be 1 to 8" >&2; exit 2; }

folder=$(mktemp -d)
children=()
trap 'kill "${children[@]}" 2>/dev/null || true; wait; rm -r "$folder"' EXIT

# wait_for_port FILE: the port that a program has printed into FILE as "listening on port N".
wait_for_port() {
  for _ in {1..600}; do
    sed -n 's/^listening on port //p' "$1" | grep . && return
    sleep 0.1
  done
  cat "$1" >&2
  return 1
}

"$build/examples/arena/example_arena_server" 0 >"$folder/server" 2>&1 &
children+=($!)
server=$(wait_for_port "$folder/server")
mkfifo "$folder/control"  # the windows write the name of another network into it
"$programs/reckoner-harness" conditioner --listen 0 --to "127.0.0.1:$server" --network "$network" --control \
  <>"$folder/control" >"$folder/network" 2>&1 &
children+=($!)
port=$(wait_for_port "$folder/network")

names=(ann bob cid dan eve fay gus hal)
windows=()
for ((i = 0; i < clients; ++i)); do
  "$build/examples/arena/example_arena" 127.0.0.1 "$port" --name "${names[i]}" --network "$network" \
    --authority "$authority" --network-control "$folder/control" --truth-port "$server" &
  windows+=($!)
done
result=0
for window in "${windows[@]}"; do
  wait "$window" || result=$?
done
exit $result
