#!/usr/bin/env bash
# ODE's own demo programs, built from its source over a drawstuff that opens no window (drawstuff.c), each run with and
# without the preload library: it ends as stock does, nothing absurd is drawn, ODE says nothing that stock did not, and the
# report has its numbers.  Nightly: a download and some minutes.
#     test_demos.sh PRELOAD_LIBRARY WORK_DIRECTORY [DEMO]...
set -uo pipefail
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

# Not run: demo_ode and demo_I test ODE's functions, demo_collision and demo_space* its colliders, no world is stepped;
# demo_dball is demo_dhinge's twin and reads its arguments from a file.
[ $# -gt 0 ] || set -- "$source"/ode/demo/demo_*.c*
failed=0 ran=0
complain() {
    echo "FAILED: $1"
    failed=$((failed + 1))
}
for path; do
    demo=$(basename "${path%.c*}")
    file=$(ls "$source/ode/demo/$demo".c*)
    if [ ! -x "bin/$demo" ] || [ drawstuff.o -nt "bin/$demo" ]; then
        c++ -O1 -w -Iinclude "${flags[@]}" -DDRAWSTUFF_TEXTURE_PATH='"."' "$file" drawstuff.o "${libs[@]}" -o "bin/$demo" 2>"log/$demo.build" ||
            { complain "$demo is not built: $(head -2 "log/$demo.build")"; continue; }
    fi
    timeout 120 "bin/$demo" >"log/$demo.stock" 2>"log/$demo.stock_err"
    stock=$?
    LD_PRELOAD=$preload SPRAG_REPORT=1 SPRAG_DUMP=$PWD/log/$demo.problem timeout 240 "bin/$demo" >"log/$demo.out" 2>"log/$demo.err"
    status=$?
    echo "$demo $stock $status $(grep -E '^sprag:' "log/$demo.err" | sed 's/^sprag: //' | tr '\n' ';')"
    ran=$((ran + 1))
done
