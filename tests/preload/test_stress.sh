#!/usr/bin/env bash
# stress_host.c under the preload library: it ends as it does without, every step is Sprag's and has an answer, though
# joints and contacts contradict each other (most in the later seeds), and no byte is touched that is not there.  A
# library built with the address sanitizer is run with it, another one under valgrind too.
#     test_stress.sh PRELOAD_LIBRARY
set -euo pipefail
export LC_ALL=C # awk reads and writes decimal points
preload=$1 here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
read -ra flags <<<"$(pkg-config --cflags ode)"
read -ra libs <<<"$(pkg-config --libs ode)"
sanitizer=$(ldd "$preload" | awk '/libasan|libubsan/ {printf "%s ", $3}')
cc -std=gnu11 -g -O1 ${sanitizer:+-fsanitize=address,undefined} "${flags[@]}" "$here/stress_host.c" "${libs[@]}" -lm \
    -lpthread -o host

# run SEED STEPS [WRAPPER]...
run() {
    timeout 200 env LD_PRELOAD="$sanitizer$preload" SPRAG_REPORT=1 SPRAG_EVENTS=events "${@:3}" ./host "$1" "$2" \
        >out 2>err || { echo "FAILED: seed $1, $2 steps: $?"; tail -30 err; exit 1; }
    grep -q "worlds, $((3 * $2)) steps" err && grep -q "steps left to ODE 0" err ||
        { echo "FAILED: seed $1: not every step was taken"; grep '^sprag' err; exit 1; }
    awk '/worst residual/ && $4 <= 1e-4 {found = 1} END {exit !found}' err ||
        { echo "FAILED: seed $1: a step without an answer"; grep '^sprag' err; exit 1; }
    [ "$(wc -l <out)" -eq 3 ] && [ -s events ] || { echo "FAILED: seed $1: no output"; exit 1; }
}

for seed in 1 2 3 4 5 6 8 18 22 33 47 50 53 57 73 78 94 99; do run $seed 300; done
if [ -z "$sanitizer" ] && command -v valgrind >/dev/null; then
    run 7 60 valgrind -q --error-exitcode=9 --leak-check=full --suppressions="$here/../valgrind.supp"
fi
echo "1 passed, 0 failed"
