#!/usr/bin/env bash
# ODE's own demo programs, built from its source over a drawstuff that opens no window (drawstuff.c), each run with and
# without the preload library: it ends as stock does, nothing absurd is drawn, ODE says nothing that stock did not, and
# the report has its numbers.  Nightly: a download and some minutes.
#     test_demos.sh PRELOAD_LIBRARY WORK_DIRECTORY [DEMO]...
set -uo pipefail
export LC_ALL=C # awk reads and writes decimal points
preload=$1 work=$2 here=$(cd "$(dirname "$0")" && pwd)
shift 2
mkdir -p "$work"
"$here/../support/ode_source.sh" "$work/source" || exit $?
source=$work/source/ode-0.16.2
cd "$work" || exit 1
mkdir -p include bin log
ln -sfn "$source/include/drawstuff" include/drawstuff
read -ra flags <<<"$(pkg-config --cflags ode)"
read -ra libs <<<"$(pkg-config --libs ode)"
cc -std=gnu11 -O1 -Wall -Wextra -Werror -Iinclude "${flags[@]}" -c "$here/drawstuff.c" -o drawstuff.o || exit 1

[ $# -gt 0 ] || set -- $(cd "$source/ode/demo" && ls demo_*.c*)
patience=3600 # s, of a run, on a machine that does other things too; no test of speed
failed=0 passed=0
complain() {
    echo "FAILED: $1"
    failed=$((failed + 1))
}

# build DEMO SOURCE
build() {
    [ -x "bin/$1" ] && [ "bin/$1" -nt drawstuff.o ] && return
    c++ -O1 -w -Iinclude "${flags[@]}" -DDRAWSTUFF_TEXTURE_PATH='"."' "$2" drawstuff.o "${libs[@]}" -o "bin/$1" 2>"log/$1.build"
}

# judge DEMO: what its run left in log/
judge() {
    local err=log/$1.err
    while read -r message; do
        grep -qF "$message" "log/$1.stock_err" || complain "$1: ODE says '$message', which stock does not"
    done < <(grep '^ODE' "$err" | sed 's/[-+0-9.e]*[0-9]//g' | sort -u)
    awk '/worst residual/ {good = $4 <= 1e-6} END {exit !good}' "$err" || # m/s
        complain "$1: $(grep 'worst residual' "$err" || echo 'no summary')"
    local declined said
    declined=$(awk '/declined islands/ {print $4 + 0}' "$err")
    said=$(awk '/sprag: declined [0-9]* times/ {sum += $3} END {print sum + 0}' "$err")
    [ "${declined:-0}" -eq "$said" ] || complain "$1: $declined islands declined, reasons for $said"
    [ "$1" != demo_space_stress ] || [ "${declined:-0}" -eq 0 ] || complain "$1: $declined islands declined: heaps have an answer"
}

for file; do
    demo=${file%.c*}
    # drawn steps: the ten thousand balls of space_stress are heaps of 2e6 to 56 000 contacts,
    # some 5 s of a core each at least
    DEMO_STEPS=$([ "$demo" = demo_space_stress ] && echo 12 || echo 200)
    export DEMO_STEPS
    build "$demo" "$source/ode/demo/$file" || { complain "$demo is not built: $(head -2 "log/$demo.build")"; continue; }
    timeout $patience "bin/$demo" >"log/$demo.stock" 2>"log/$demo.stock_err"
    stock=$?
    dump=$PWD/log/$demo.problem
    [ "$demo" = demo_space_stress ] && dump= # gigabytes
    # its wall begins to stand with 736 contacts, which a program that plays is not made to wait for (docs/preload.md)
    patient=$([ "$demo" = demo_crash ] && echo 1 || echo 0)
    env LD_PRELOAD="$preload" SPRAG_REPORT=1 SPRAG_CONFIG="patient=$patient" ${dump:+SPRAG_DUMP="$dump"} timeout $patience "bin/$demo" >"log/$demo.out" 2>"log/$demo.err"
    status=$?
    echo "$demo: $stock, $status; $(grep -E '^sprag: ([0-9]* worlds|worst|.* ms a step|not active)' "log/$demo.err" | sed 's/^sprag: //' | tr '\n' ';')"
    [ $stock -ne 124 ] || { complain "$demo: takes more than $patience s as it is"; continue; }
    [ $stock -eq 0 ] || { echo "skipped: $demo fails by itself"; continue; }
    grep -qE ' dWorld(Quick)?Step(@|$)' <(nm -D "bin/$demo") || { echo "$demo steps no world"; continue; }
    [ $status -eq 0 ] && [ -s "log/$demo.out" ] || { complain "$demo: ends with $status under the preload: $(tail -1 "log/$demo.out")"; continue; }
    judge "$demo"
    passed=$((passed + 1))
done
[ $passed -gt 0 ] || complain "no demo ran"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
