#!/usr/bin/env bash
# The same program with and without the preload library: it ends well, ODE says nothing that stock did not, the report
# has its numbers.      test_preload.sh PRELOAD_LIBRARY
set -euo pipefail
preload=$1 here=$(dirname "$0") python=/usr/bin/python3
"$python" -c 'import ode' 2>/dev/null || { echo "skipped: no python3-pyode"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "FAILED: $1"
    [ -e "$scratch/err" ] && cat "$scratch/err"
    exit 1
}

for mode in step quick; do
    "$python" "$here/host.py" $mode >"$scratch/stock" 2>"$scratch/stock_err"
    LD_PRELOAD=$preload SPRAG_REPORT=1 SPRAG_EVENTS="$scratch/events" "$python" "$here/host.py" $mode >"$scratch/out" \
        2>"$scratch/err" || fail "$mode: the program failed under the preload"
    [ "$(wc -l <"$scratch/out")" -eq "$(wc -l <"$scratch/stock")" ] || fail "$mode: other output"
    grep -qi nan "$scratch/out" && fail "$mode: NaN"
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
foreign=$(nm -D --defined-only "$preload" | awk '{print $3}' | grep -vE '^d(JointCreateContact|World(Step|QuickStep|Destroy))$' || true)
[ -z "$foreign" ] || fail "exports $foreign"
echo "1 passed, 0 failed"
