#!/usr/bin/env bash
# usage: demos/maps/maps.sh [BUILD_DIRECTORY] [OUTPUT_DIRECTORY]
# The friction maps of docs/theory.md: every picture docs/img/map-*.png is made here.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
map=${1:-$here/build}/demos/sprag-map out=${2:-$here/docs/img}
"$map" rod --x mu=0:4 --y angle=1:179 --png "$out/map-rod.png" --title "rod, sliding right, omega = 0"
"$map" rod --x mu=0:4 --y angle=1:179 --set omega=4 --png "$out/map-rod-turning.png" \
    --title "rod, sliding right, omega = 4 rad/s"
"$map" rod-guide --x mu=0:4 --y angle=1:179 --png "$out/map-rod-guide.png" --title "rod in a guide, sliding right"
"$map" rod-guide --x mu=0:4 --y angle=1:179 --set slip=0 --set omega=4 --size 260x210 \
    --png "$out/map-rod-guide-rest.png" --title "rod in a guide, at rest, omega = 4 rad/s"
"$map" bipod --x mu-2=0:2 --y height=0.1:3 --set mu-1=1 --png "$out/map-bipod.png" \
    --title "bipod on two-sided feet, sliding right, mu-1 = 1"
"$map" painleve-klein --x mu-2=0:4 --y angle=5:85 --png "$out/map-painleve-klein.png" \
    --title "Painleve and Klein, sliding right, mu-1 = 0.525"
"$map" painleve-klein --x mu-2=0:4 --y angle=5:85 --set speed=0 --size 260x210 \
    --png "$out/map-painleve-klein-rest.png" --title "Painleve and Klein, at rest"
"$map" drawer --x mu=0:3 --y offset=0.02:1 --png "$out/map-drawer.png" --title "drawer at rest, pulled beside its middle"
"$map" peg --x mu=0:1 --y depth=0.02:0.28 --set tipped=1 --set clearance=0.01 --png "$out/map-peg.png" \
    --title "peg in a hole, tipped by the play, pushed"
"$map" top --x mu=0:6 --y tilt=1:89 --set slip-x=-0.1 --set spin=0 --set inertia-transverse=1e-6 \
    --set inertia-axial=1e-6 --set rim=0 --png "$out/map-top.png" --title "a slim top that does not spin, tip sliding"
