#!/usr/bin/env bash
# Programs under the preload library: what the report says, what bad settings do, and what absurd input does.
#     test_hosts.sh PRELOAD_LIBRARY SONAME_OF_ODE
set -euo pipefail
export LC_ALL=C # awk reads and writes decimal points
preload=$1 soname=$2 here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
read -ra flags <<<"$(pkg-config --cflags ode)"
read -ra libs <<<"$(pkg-config --libs ode)"
for host in host absurd_host fewer_host; do
    cc -std=gnu11 "${flags[@]}" "$here/$host.c" "${libs[@]}" -lm -o $host
done
cc -std=gnu11 -rdynamic "${flags[@]}" "$here/late_host.c" -ldl -o late_host # not linked to ODE

fail() {
    echo "FAILED: $1"
    [ -e err ] && head -20 err
    exit 1
}

# run [NAME=VALUE]... -- PROGRAM [ARGUMENT]: under the preload, into out and err
run() {
    local set=()
    while [ "$1" != -- ]; do set+=("$1"); shift; done
    shift
    env LD_PRELOAD="$preload" SPRAG_REPORT=1 ${set[@]+"${set[@]}"} "$@" >out 2>err
}

# ---- the report: worlds, steps, islands, contacts; solvers; declined; events; residual; time
run -- ./host || fail "a program fails"
number='[0-9.e+-]+'
for line in "1 worlds, 200 steps, 200 islands, 800 contacts" \
    "islands solved by: [a-z]+ [0-9]+.*" \
    "declined islands 0, fallbacks 0, steps left to ODE 0" \
    "events: touch 4 .*stick 4.*" \
    "worst residual $number m/s" \
    "$number ms a step, of which ODE [0-9]+ %"; do
    grep -qE "^sprag: $line\$" err || fail "the report has no line '$line'"
done
[ "$(wc -l <err)" -eq 6 ] || fail "the report has other lines"
grep -q "declined islands 0" err || fail "islands are declined"
# 1 m/s along either axis, friction mu g = 5 m/s^2 against the motion: it stops after 2 / (2 * 5) = 0.2 m
awk '{d = sqrt($1 * $1 + $2 * $2); exit !(d > 0.19 && d < 0.21)}' out || fail "friction is not round: $(cat out)"
LD_PRELOAD=$preload ./host >out 2>err
[ ! -s err ] || fail "speaks without being asked"

# ---- the same bits, whatever is asked to be told, and with any number of threads
cp out first
run SPRAG_EVENTS=events SPRAG_DUMP=dump SPRAG_CONFIG=threads=2 -- ./host
cmp -s out first || fail "a report, events or threads change the motion"
[ "$(wc -l <events)" -ge 8 ] || fail "events are missing"

# ---- a child neither tells nor writes what its parent did
cp events first_events
run SPRAG_EVENTS=events -- ./host fork
[ "$(grep -c worlds err)" -eq 1 ] || fail "a child reports what its parent did"
cmp -s events first_events || fail "a child writes the events of its parent again"

# ---- what a program starts adds to its events, and whatever the end, they are whole lines
run SPRAG_EVENTS=events -- ./host exec
[ "$(grep -c worlds err)" -eq 2 ] || fail "a program and one that it starts: not two reports"
cat first_events first_events | cmp -s - events || fail "what a program starts does not add its events"
run SPRAG_EVENTS=events -- ./host leave
cmp -s events first_events || fail "events are lost where a program ends without exit"

# ---- a program that loads ODE itself and asks the handle for its functions; RTLD_NEXT is still the asker's own
./late_host "$soname" >stock
run -- ./late_host "$soname" || fail "a program that loads ODE itself fails"
grep -qx "sprag: 1 worlds, 50 steps, 50 islands, 50 contacts" err || fail "a program that loads ODE itself goes without Sprag"
grep -q " 1$" out || fail "RTLD_NEXT does not find what comes after the program"
cmp -s out stock && fail "friction of a program that loads ODE itself is stock's"

# ---- a program that wraps dWorldStep sees its own calls, not Sprag's
cc -std=gnu11 "${flags[@]}" -Dmain=host_main -c "$here/host.c"
cc -std=gnu11 "${flags[@]}" "$here/wrap_host.c" host.o "${libs[@]}" -ldl -lm -o wrap_host
run -- ./wrap_host || fail "a program that wraps dWorldStep fails"
cat first - <<<"200 calls" | cmp -s - out || fail "a program that wraps dWorldStep: $(cat out)"

# ---- bad settings: said once, and ODE does everything
./host >stock
bad() {
    run "$1" -- ./host || fail "$1: the program fails"
    cmp -s out stock || fail "$1: not left to ODE"
    [ "$(wc -l <err)" -eq 1 ] && grep -qF "sprag: not active: $2" err || fail "$1: does not say once '$2'"
}
bad SPRAG_CONFIG=colour=red "SPRAG_CONFIG: no key 'colour', expected solver, tolerance, "
bad SPRAG_CONFIG=tolerance=0 "SPRAG_CONFIG: 'tolerance=0', expected a number from 1e-16 to 1"
bad SPRAG_CONFIG=threads=many "SPRAG_CONFIG: 'threads=many', expected a whole number from 0 to 1024"
bad SPRAG_CONFIG=threads "SPRAG_CONFIG: 'threads' is not key=value"
bad SPRAG_SOLVER=fast "SPRAG_SOLVER: unknown solver 'fast', expected one of auto, "
bad SPRAG_SOLVER=stock "the solver asked for is stock"
rm events
run SPRAG_SOLVER=stock SPRAG_EVENTS=events -- ./host
[ ! -e events ] || fail "makes a file of events that nobody will write"
bad SPRAG_EVENTS=/nowhere/events "SPRAG_EVENTS: cannot write /nowhere/events"
run SPRAG_EVENTS=/dev/full -- ./host || fail "a full disk ends the program"
grep -q "^sprag: SPRAG_EVENTS: cannot write /dev/full: " err || fail "events lost on a full disk are not said"
run SPRAG_CONFIG=tolerance=1e-16,enough=0 SPRAG_DUMP=/nowhere/dump -- ./host || fail "a bad SPRAG_DUMP ends the program"
grep -q "^sprag: SPRAG_DUMP: .*/nowhere/dump" err || fail "a bad SPRAG_DUMP is not said"
grep -qE "^sprag: worst residual $number m/s, above 1e-16 in [0-9]+ steps\$" err || fail "steps above the tolerance are not counted"
grep -qE "^sprag: the worst was in step [0-9]+ of its world, with 4 contacts: " err || fail "the worst step is not named"

# ---- SPRAG_DUMP: of the worst step alone, though one before it had more islands
run SPRAG_CONFIG=tolerance=1e-16,enough=0 SPRAG_DUMP=dump.txt -- ./fewer_host || fail "a dump ends the program"
[ -e dump.txt ] || fail "no dump of the worst step"
[ ! -e dump-2.txt ] && [ ! -e dump-3.txt ] || fail "problems of a step that was not the worst are left"

# ---- speeds that are not given are in the units that gravity tells of, in each step
run -- ./fewer_host 1e13 10 || fail "a fast box ends the program"
grep -qE "^sprag: worst residual $number m/s, above 1e-06 in [0-9]+ steps\$" err || fail "metres: what is enough is not 1e-6"
run -- ./fewer_host 1e13 386 || fail "a fast box in inches ends the program"
grep -qE "^sprag: worst residual $number m/s, above 3.2e-05 in [0-9]+ steps\$" err || fail "inches: what is enough is not 3.2e-5"
run SPRAG_CONFIG=tolerance=1e-9,enough=2e-6 -- ./fewer_host 1e13 386 || fail "a fast box with settings ends the program"
grep -qE "^sprag: worst residual $number m/s, above 2e-06 in [0-9]+ steps\$" err || fail "inches: what is given is not enough"

# ---- absurd input: the island concerned, or the step, is ODE's, counted, with the reason; the others are not touched
run -- ./absurd_host
cp out sane
run -- ./absurd_host surface || fail "a bad surface ends the program"
cmp -s out sane || fail "a bad surface changes another island"
grep -q "declined islands 150, .*steps left to ODE 0$" err || fail "a bad surface is not counted"
grep -q "declined 150 times: a body, joint or contact with a number" err || fail "a bad surface is not explained"
run -- ./absurd_host normal || fail "a normal of length 1/4 ends the program"
cmp -s out sane || fail "the length of a normal changes the motion"
grep -q "declined islands 0, " err || fail "a normal of length 1/4 is declined"
run -- ./absurd_host world || fail "a bad world ends the program"
grep -q "steps left to ODE 150: world: CFM -1e-14, expected >= 0" err || fail "a bad world is not counted and explained"
if ./absurd_host pose >out 2>stock; then # an ODE without assertions
    run -- ./absurd_host pose || fail "a NaN pose ends the program"
    cmp -s out sane || fail "a NaN pose changes another island"
    grep -q "declined islands 150, .*steps left to ODE 0$" err || fail "a NaN pose is not counted"
else
    run -- ./absurd_host pose && fail "a NaN pose does not end the program as it does under ODE"
    grep -v '^sprag' err | cmp -s - stock || fail "a NaN pose ends the program in another way"
fi
echo "1 passed, 0 failed"
