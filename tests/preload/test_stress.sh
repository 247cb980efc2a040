#!/usr/bin/env bash
# stress_host.c under the preload library: it ends as it does without, every step is Sprag's, and no byte is touched that
# is not there.  Every step has an answer, though joints and contacts contradict each other: in what one thread does, the
# same in every run.  What three do is another thing each time (of 2400 runs of seed 18 in 13 one or two steps missed), so
# there one step in a hundred may have none.  A library built with the address sanitizer is run with it, another one under
# valgrind too.
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

# run SEED STEPS THREADS MISSED [WRAPPER]...: steps of each thread; of all, those that may miss the tolerance and 1e-4 m/s
run() {
    timeout 200 env LD_PRELOAD="$sanitizer$preload" SPRAG_REPORT=1 SPRAG_EVENTS=events "${@:5}" ./host "$1" "$2" "$3" \
        >out 2>err || { echo "FAILED: seed $1, $2 steps, $3 threads: $?"; tail -30 err; exit 1; }
    grep -q "worlds, $(($3 * $2)) steps" err && grep -q "steps left to ODE 0" err ||
        { echo "FAILED: seed $1, $3 threads: not every step was taken"; grep '^sprag' err; exit 1; }
    awk -v missed="$4" '/worst residual/ && ($4 <= 1e-4 || $(NF - 1) <= missed) {found = 1} END {exit !found}' err ||
        { echo "FAILED: seed $1, $3 threads: a step without an answer"; grep '^sprag' err; exit 1; }
    [ "$(wc -l <out)" -eq "$3" ] && [ -s events ] || { echo "FAILED: seed $1: no output"; exit 1; }
}

for seed in 1 2 3 4 5 6 8 18 22 33 47 50 53 57 73 78 94 99; do
    run $seed 600 1 -1
    run $seed 300 3 9
done
if [ -z "$sanitizer" ] && command -v valgrind >/dev/null; then
    run 7 60 3 1 valgrind -q --error-exitcode=9 --leak-check=full --suppressions="$here/../valgrind.supp"
fi
echo "1 passed, 0 failed"
