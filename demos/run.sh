#!/usr/bin/env bash
# Installs what is missing, builds, and runs the main job: the rod and the top, Sprag beside stock ODE.
# With a display it opens the viewer; without, it writes pictures, traces and events under build/out/.
set -euo pipefail
cd "$(dirname "$0")/.."

third_party/install.sh demos
build=${BUILD_DIR:-build}
# shellcheck disable=SC2086
cmake -S . -B "$build" -G Ninja -DBUILD_TESTING=OFF ${CMAKE_ARGS:-} >/dev/null
cmake --build "$build"
view=$build/demos/sprag-view

if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    "$view" rod --solver both --set mu=2 --set angle=120
    "$view" top --solver both
    exit 0
fi

out=$build/out
mkdir -p "$out"
# No display: a picture needs GL all the same, from EGL or from a virtual X server.
picture() {
    "$view" "$@" 2>"$out/view.log" || xvfb-run -a "$view" "$@" || {
        cat "$out/view.log" >&2
        return 1
    }
}
picture rod --solver both --set mu=2 --set angle=120 --headless --steps 40 --png "$out/rod.png" --trace "$out/rod.csv" \
    --events "$out/rod.jsonl"
picture top --solver both --headless --steps 400 --png "$out/top.png" --trace "$out/top.csv" \
    --events "$out/top.jsonl"
echo "No display: pictures, traces and events are in"
ls "$out"/{rod,top}.{png,csv,jsonl}
