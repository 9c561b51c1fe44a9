#!/bin/sh
# SPDX-License-Identifier: MIT
# Draws the pictures of docs/curves.md from the harness's real output: docs/curves/draw.sh PATH/TO/reckoner-harness
set -eu
harness=$(realpath "$1")
out=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

printf '0,0\n2,3\n4,-1\n7,2\n9,0\n' > pts.csv
for knots in uniform centripetal chordal; do
  "$harness" curve --kind catmull-rom --points pts.csv --samples 24 --knots $knots > cr_$knots.csv
done
tcb() {
  printf '0,0,0,0,0,0,0,0,0\n1,3,3,0,%s,0,0\n2,6,0,0,0,0,0,0,0\n' "$1" > keys.csv
  "$harness" curve --kind tcb --points keys.csv --samples 32 > "$2.csv"
}
tcb 0,0,0 t0
tcb 0.8,0,0 tt
tcb 0,-0.8,0 tc
tcb 0,0.8,0 tcp
tcb 0,0,0.8 tb
printf '0,0\n3,0\n4,3\n6,3\n6.2,6\n6.4,3\n9,2.6\n12,3\n' > ch.csv
"$harness" curve --kind chaikin --points ch.csv --passes 3 > ch0.csv
"$harness" curve --kind chaikin --points ch.csv --passes 3 --limit-angles > ch1.csv
"$harness" curve --kind chaikin --points ch.csv --passes 3 --reject-outliers > ch2.csv
"$harness" replay --scenario patrol --entities 4 --network mobile --seconds 40 --seed 3 --rendered guard.csv > /dev/null
cat > all.gp <<'EOF'
set datafile separator ","
set terminal svg size 720,300 font "sans,12" background "white"
set key outside right; set size ratio -1; set border 3; set tics nomirror out
set output "catmull_rom.svg"
set title "Catmull-Rom: the knots decide how the curve rounds its points"
plot "cr_uniform.csv" u 3:4 w l lw 2 t "uniform", "cr_centripetal.csv" u 3:4 w l lw 2 t "centripetal", "cr_chordal.csv" u 3:4 w l lw 2 t "chordal", "pts.csv" u 1:2 w p pt 7 ps .6 lc rgb "black" t "points"
set output "tcb.svg"
set title "TCB: the middle key's shape"
plot "t0.csv" u 3:4 w l lw 2 t "0, 0, 0", "tt.csv" u 3:4 w l lw 2 t "tension 0.8", "tc.csv" u 3:4 w l lw 2 t "continuity -0.8", "tcp.csv" u 3:4 w l lw 2 t "continuity 0.8", "tb.csv" u 3:4 w l lw 2 t "bias 0.8"
set output "chaikin.svg"
set title "Chaikin: corner cutting, three passes"
plot "ch.csv" u 1:2 w lp pt 7 ps .5 lc rgb "#aaaaaa" t "polygon", "ch0.csv" u 3:4 w l lw 2 t "plain", "ch1.csv" u 3:4 w lp lw 2 pt 1 ps .5 t "angle limit 30°", "ch2.csv" u 3:4 w l lw 2 t "spikes dropped"
set output "route_guard.svg"
set terminal svg size 720,420 font "sans,12" background "white"
set title "Four guards of one patrol route, as shown over the mobile network for 40 s"
plot for [i=1:4] sprintf("<grep ',guard%d,' guard.csv | awk 'NR%%6==0'",i) u 3:4 w l lw 2 t sprintf("guard %d",i)
EOF
gnuplot all.gp
cp catmull_rom.svg tcb.svg chaikin.svg route_guard.svg "$out"
