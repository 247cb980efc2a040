#!/usr/bin/env bash
# sprag-map as its users meet it: bad input, one picture whose colours are known.      test_map.sh SPRAG_MAP
set -uo pipefail
map=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
unset DISPLAY WAYLAND_DISPLAY
failed=0

fail() {
    echo "FAILED: $1"
    failed=1
}

# refused WORDS ARGUMENTS...: exit 2, one line on stderr with the words, nothing left on disk
refused() {
    local words=$1
    shift
    "$map" "$@" >out 2>err
    [ $? -eq 2 ] || fail "$*: exit code is not 2"
    [ "$(wc -l <err)" -eq 1 ] || fail "$*: not one line: $(cat err)"
    grep -q -e "$words" err || fail "$*: '$(cat err)' does not say '$words'"
    rm -f out err
    [ -z "$(ls -A)" ] || fail "$*: left $(ls -A)"
}
refused 'which scene'
refused 'no scene "rood"' rood
refused 'no key "colour"' rod --x colour=0:1
refused 'expected KEY=FROM:TO' rod --x mu=1
refused 'FROM < TO' rod --x mu=2:1
refused 'expected KEY=VALUE' rod --set mu=1:2
refused 'needs an argument' rod --x
refused 'unknown option' rod --colour red
refused '50 to 4000' rod --size 1x1
refused 'are needed' rod --x mu=0:3

# a key that is no friction, a value out of range: said, exit 1, no picture
"$map" rod --x length=1:2 --y angle=10:20 --png p.png 2>err && fail 'length taken for friction'
grep -q 'no coefficient of friction' err || fail "length: $(cat err)"
"$map" rod --x mu=0:3 --y angle=100:400 --png p.png 2>err && fail 'angle 400 taken'
grep -q 'angle' err || fail "angle: $(cat err)"
[ ! -e p.png ] || fail 'a picture of a failure'

"$map" rod --x mu=0:4 --y angle=1:179 --size 80x60 --png rod.png || fail 'rod'
[ "$(head -c 8 rod.png | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] || fail 'rod.png is no PNG'
exit $failed
