#!/usr/bin/env bash
# Programs that the preload library must leave alone: without ODE, with ODE linked in, with an ODE of another version or
# precision.  It says so once where SPRAG_REPORT is set, else nothing.
#     test_foreign.sh PRELOAD_LIBRARY SONAME_OF_ODE
set -euo pipefail
preload=$1 soname=$2 here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
read -ra flags <<<"$(pkg-config --cflags ode)"
compile=(cc -std=gnu11 "${flags[@]}" -DdNODEBUG)

fail() {
    echo "FAILED: $1"
    cat err
    exit 1
}

# expect WHAT MESSAGE PROGRAM: same output with and without the preload; the message once, or nothing at all.
expect() {
    "$3" >stock
    LD_PRELOAD=$preload "$3" >out 2>err || fail "$1: fails under the preload"
    [ -s err ] && fail "$1: speaks without being asked"
    LD_PRELOAD=$preload SPRAG_REPORT=1 SPRAG_EVENTS=events "$3" >out 2>err || fail "$1: fails when asked for a report"
    cmp -s stock out || fail "$1: other output"
    [ "$(grep -c "sprag: not active: .*$2" err)" -eq 1 ] || fail "$1: does not say '$2' once"
    [ "$(wc -l <err)" -eq 1 ] || fail "$1: says more than one line"
    [ ! -e events ] || fail "$1: makes a file of events"
}

expect "a program without ODE" "no ODE" /bin/true

# A script is a tree of processes: one line for all of them, none where one of them has ODE.
# (dash ends without a word.)
cat >script <<'END'
#!/bin/bash
echo a b | sed s/a/c/ | grep -c b
(bash -c 'true; true') && $1
END
chmod +x script
LD_PRELOAD=$preload SPRAG_REPORT=1 ./script true >out 2>err || fail "a script fails under the preload"
[ "$(wc -l <err)" -eq 1 ] && grep -q "not active: .*no ODE" err || fail "a script without ODE: says so not once"
read -ra libs <<<"$(pkg-config --libs ode)"
"${compile[@]}" "$here/host.c" "${libs[@]}" -lm -o host
LD_PRELOAD=$preload SPRAG_REPORT=1 ./script ./host >out 2>err || fail "a script with ODE fails under the preload"
grep -q "not active" err && fail "a script with ODE: one of its tools speaks"
grep -q "1 worlds, 200 steps" err || fail "a script with ODE: no report"
LD_PRELOAD=$preload SPRAG_REPORT=1 bash -c 'exec ./host' >out 2>err || fail "exec fails under the preload"
grep -q "not active" err && fail "exec: speaks"

static=$(pkg-config --variable=libdir ode)/libode.a
if [ -e "$static" ]; then
    "${compile[@]}" "$here/host.c" "$static" -l:libccd.so.2 -lstdc++ -lm -lpthread -o static_host
    expect "ODE linked in" "linked in" ./static_host
fi

mkdir version precision
"${compile[@]}" -shared -fPIC -Wl,-soname,libode.so.6 "$here/other_ode.c" -o version/libode.so.6
"${compile[@]}" "$here/other_host.c" version/libode.so.6 -Wl,-rpath,"$PWD/version" -o version_host
expect "ODE of another version" "another ODE than $soname" ./version_host

"${compile[@]}" -shared -fPIC -DOTHER_PRECISION -Wl,-soname,libode.so.6 "$here/other_ode.c" -o precision/libode.so.6
"${compile[@]}" "$here/other_host.c" precision/libode.so.6 -Wl,-rpath,"$PWD/precision" -o precision_host
expect "ODE of the other precision" "other precision" ./precision_host

echo "1 passed, 0 failed"
