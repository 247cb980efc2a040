#!/usr/bin/env bash
# The same program with and without the preload library: it ends well, ODE says nothing that stock did not, the report
# has its numbers.      test_preload.sh PRELOAD_LIBRARY
set -euo pipefail
export LC_ALL=C # awk reads and writes decimal points
preload=$1 here=$(dirname "$0") python=/usr/bin/python3
"$python" -c 'import ode' 2>/dev/null || { echo "skipped: no python3-pyode"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "FAILED: $1"
    [ -e "$scratch/err" ] && cat "$scratch/err"
    exit 1
}

# Rows 1-12 boxes: none in the floor, none lost.  13-20 links of a chain, 0.2 m apart where it is
# straight.  21-25 a car that drove 1.8 m: as under stock ODE.  (Where the pile and the chain's end come to
# rest hangs on friction, in which the two differ.)
compare() {
    paste "$1" "$2" | awk '
        function far(a, b, bound) { return a - b > bound || b - a > bound }
        function wrong(what) { print "row " NR ": " what ": " $0; bad = 1 }
        NR <= 12 && !($6 > 0.099 && $6 < 2.4 && $4 * $4 + $5 * $5 < 4) { wrong("a box is lost") }
        NR >= 14 && NR <= 20 && far(sqrt(($4 - x) ^ 2 + ($5 - y) ^ 2 + ($6 - z) ^ 2), 0.18, 0.022) { wrong("the chain is torn") }
        NR >= 13 && NR <= 16 && (far($1, $4, 0.02) || far($3, $6, 0.02)) { wrong("the chain hangs elsewhere") }
        NR >= 21 && (far($1, $4, 0.01) || far($2, $5, 0.01) || far($3, $6, 0.001)) { wrong("the car is elsewhere") }
        NR == 21 && !($4 < -4.5) { wrong("the car did not drive") }
        { x = $4; y = $5; z = $6 }
        END { exit bad || NR != 25 }'
}

for mode in step quick; do
    "$python" "$here/host.py" $mode >"$scratch/stock" 2>"$scratch/stock_err"
    LD_PRELOAD=$preload SPRAG_REPORT=1 SPRAG_EVENTS="$scratch/events" "$python" "$here/host.py" $mode >"$scratch/out" \
        2>"$scratch/err" || fail "$mode: the program failed under the preload"
    [ "$(wc -l <"$scratch/out")" -eq "$(wc -l <"$scratch/stock")" ] || fail "$mode: other output"
    grep -qi nan "$scratch/out" && fail "$mode: NaN"
    compare "$scratch/stock" "$scratch/out" || fail "$mode: another motion than under stock ODE"
    grep '^ODE' "$scratch/err" >"$scratch/messages" || true
    [ -s "$scratch/messages" ] && ! grep -q '^ODE' "$scratch/stock_err" && fail "$mode: ODE complains"
    grep -q '1 worlds, 600 steps' "$scratch/err" || fail "$mode: no report"
    awk '/worst residual/ {exit !($4 <= 1e-6)}' "$scratch/err" || fail "$mode: residual above 1e-6"
    grep -q '"type":"touch"' "$scratch/events" || fail "$mode: no events"
    grep -qE '"type":"touch".*"body":\[[0-9]+,(-1|[0-9]+)\]' "$scratch/events" || fail "$mode: events without bodies"
    cat "$scratch/err"
done

# The off switch leaves stock ODE, bit for bit.
LD_PRELOAD=$preload SPRAG_REPORT=1 SPRAG_SOLVER=stock "$python" "$here/host.py" step >"$scratch/out" 2>"$scratch/err"
"$python" "$here/host.py" step >"$scratch/stock" 2>/dev/null
cmp -s "$scratch/out" "$scratch/stock" || fail "SPRAG_SOLVER=stock changes the motion"
[ "$(grep -c 'not active.*stock' "$scratch/err")" -eq 1 ] || fail "SPRAG_SOLVER=stock is not said once"

# A bad setting is said once and nothing happens.
LD_PRELOAD=$preload SPRAG_REPORT=1 SPRAG_CONFIG=tolerance=-1 "$python" "$here/host.py" step >"$scratch/out" 2>"$scratch/err"
[ "$(grep -c 'tolerance=-1' "$scratch/err")" -eq 1 ] || fail "a bad setting is not named once"
cmp -s "$scratch/out" "$scratch/stock" || fail "a bad setting changes the motion"
# Only the overridden names are exported.
foreign=$(nm -D --defined-only "$preload" | awk '{print $3}' | grep -vE '^(dJointCreateContact|dWorld(Step|QuickStep|Destroy)|dlsym)$' || true)
[ -z "$foreign" ] || fail "exports $foreign"
echo "1 passed, 0 failed"
