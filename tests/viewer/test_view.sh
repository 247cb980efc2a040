#!/usr/bin/env bash
# sprag-view as its users meet it: bad input, files, pictures.      test_view.sh SPRAG_VIEW
. "$(dirname "$0")/../support/tool.sh" "$1"
export XDG_RUNTIME_DIR=$scratch # without one libwayland (GLFW 3.4) has a line to say
refused 'first argument is the scene'
refused "no scene 'rood'" rood
refused "no key 'colour'" rod --set colour=3
refused 'expected KEY=VALUE' rod --set mu
refused 'not a decimal number' rod --set mu=much
refused 'not a decimal number' rod --set mu=0x1p2
refused 'not a decimal number' rod --set mu=inf
refused 'not a decimal number' rod --set mu=0.5f
refused 'count must be a whole number from 1 to 200' stack --set count=2.5
refused 'two-sided must be a whole number' bipod --set two-sided=0.5
refused 'must be from' rod --set mu=-1
refused 'must be from' rod --set angle=400
refused 'expected sprag' rod --solver bullet
refused 'step-size' rod --step-size 0
refused 'step-size' rod --step-size nan
refused 'whole number' rod --steps 0.5
refused 'needs a value' rod --steps
refused 'unknown option' rod --colour red
refused 'unexpected argument' rod top
refused 'WIDTHxHEIGHT' rod --size big
refused 'cannot' rod --headless --steps 3 --trace /nonexistent/a.csv
refused 'cannot' rod --headless --steps 3 --events /nonexistent/a.jsonl
refused 'cannot' rod --headless --steps 3 --png /nonexistent/a.png
refused 'two outputs are to be written to a' rod --headless --trace a --events a
refused 'cannot' rod --headless --steps 3 --trace a.csv --png /nonexistent/a.png
refused 'no display' rod
refused 'no display' rod --trace a.csv
refused 'cannot' rod --trace a.csv --events /nonexistent/a.jsonl
wrap='env PATH=/nonexistent' refused 'ffmpeg' rod --headless --steps 3 --video a.mp4

"$tool" --list | grep '^rod ' >/dev/null || fail "--list does not show the rod"
"$tool" --version | grep '^sprag-view [0-9]' >/dev/null || fail "--version"
"$tool" --help | grep -- '--solver' >/dev/null || fail "--help"

# Headless without pictures needs no OpenGL: none is loaded.
"$tool" rod --headless --steps 20 --trace a.csv --events a.jsonl || fail "headless run"
[ "$(wc -l <a.csv)" -eq 22 ] || fail "the trace has $(wc -l <a.csv) lines, not a header, the start and 20 steps"
grep -q '"type":"touch"' a.jsonl || fail "no touch event"

# What is no ordinary file is written through, never replaced.
ln -s target.csv link.csv && ln -s target.png link.png && mkfifo pipe
cat pipe >piped.jsonl &
"$tool" rod --headless --steps 20 --trace link.csv --events pipe || fail "run into a link and a pipe"
wait
cmp -s target.csv a.csv || fail "a trace does not go through a link"
cmp -s piped.jsonl a.jsonl || fail "events do not go through a pipe"
[ -L link.csv ] && [ -p pipe ] || fail "a link or a pipe was replaced"
"$tool" rod --headless --steps 2 --trace /dev/full 2>err && fail "a full disk is no error"
grep -q 'cannot be written\|cannot write\|writing failed' err || fail "a full disk: $(cat err)"

# The inconsistent rod jams, and says so.
"$tool" rod --headless --set mu=2 --set angle=120 --steps 5 --events jam.jsonl || fail "jam run"
grep -q '"type":"jam"' jam.jsonl || fail "no jam event"

if ! "$tool" rod --headless --steps 50 --set mu=2 --set angle=120 --solver both --png both.png 2>err; then
    grep -q 'OpenGL\|display' err && { echo "skipped pictures: $(cat err)"; finish; }
    fail "picture: $(cat err)"
fi
[ "$(stat -c %s both.png)" -gt 20000 ] || fail "the picture is blank"
"$tool" rod --headless --steps 50 --set mu=2 --set angle=120 --png one.png --size 640x720
"$tool" rod --headless --steps 50 --set mu=2 --set angle=120 --png other.png --size 640x720 --solver ode-step
"$tool" gripper --headless --steps 900 --solver both-quick --png quick.png || fail "both-quick"
"$tool" gripper --headless --steps 900 --solver both --png step.png || fail "both"
cmp -s quick.png step.png && fail "both-quick is both"
cmp -s one.png other.png && fail "Sprag's and stock ODE's pictures are the same"
"$tool" rod --headless --steps 50 --set mu=2 --set angle=120 --png again.png --size 640x720
cmp -s one.png again.png || fail "the same run gives another picture"
"$tool" rod --headless --steps 50 --set mu=2 --set angle=120 --png link.png --size 640x720
[ -L link.png ] && cmp -s target.png one.png || fail "a picture does not go through a link"
if command -v ffmpeg >/dev/null; then
    "$tool" rod --headless --steps 100 --size 320x240 --video a.mp4 || fail "video"
    [ "$(stat -c %s a.mp4)" -gt 1000 ] || fail "the video is empty"
fi
lost --help
lost --version
lost --list
finish
