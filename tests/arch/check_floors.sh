#!/usr/bin/env bash
# Fails if a file of plugin/ includes a higher floor or lies on none, if a floor below `ode` includes ODE, if a demo
# includes what is private to the plugin, if a line is longer than 120 columns, or if docs/architecture.md does not
# name a file of plugin/solve.      check_floors.sh SOURCE_DIR
set -euo pipefail
root=$1
# From below.  What lies in plugin/solve itself is below its parts.
floors=(base linalg problem
    solve solve/contact solve/sweep solve/newton solve/search solve/trace solve/greedy solve/glue solve/chain
    analysis
    ode ode/world ode/shape ode/rows ode/work ode/joints ode/ledger ode/look ode/matrix ode/islands ode/step
    api preload)

height() {
    for i in "${!floors[@]}"; do [ "${floors[$i]}" = "$1" ] && echo "$i" && return; done
    echo -1
}

bad=0
complain() {
    echo "$1"
    bad=1
}

included_by() {
    sed -n 's/^ *# *include *"\([a-z]*\/[^"]*\)".*/\1/p' "$1"
}

while read -r file; do
    floor=$(dirname "${file#"$root/plugin/"}")
    here=$(height "$floor")
    [ "$here" -ge 0 ] || complain "$file: on no floor"
    while read -r included; do
        [ "$(height "$(dirname "$included")")" -le "$here" ] || complain "$file: includes $included, a higher floor"
    done < <(included_by "$file")
    if [ "$here" -lt "$(height ode)" ] && grep -qE '^ *# *include *<(ode/|sprag/(sprag_ode|drop_in))' "$file"; then
        complain "$file: includes ODE below the ode floor"
    fi
done < <(find "$root/plugin" -name '*.[ch]' -not -path '*/include/*')

for file in "$root"/demos/*.[ch] "$root"/demos/*/*.[ch]; do
    [ -e "$file" ] || continue
    while read -r included; do
        [ "$(height "${included%%/*}")" -lt 0 ] || complain "$file: includes the plugin's private $included"
    done < <(included_by "$file")
done
while read -r file; do
    complain "$file: a line beyond 120 columns"
done < <(find "$root"/plugin "$root"/demos "$root"/tests -name '*.[ch]' -exec grep -lE '^.{121}' {} +)
while read -r file; do
    name=$(basename "$file" .c)
    grep -qE "^\| .*\`$name\`.* \||\`solve/([a-z]+/)?$name(\.c)?\`" "$root/docs/architecture.md" ||
        complain "$file: not in docs/architecture.md"
done < <(find "$root"/plugin/solve -name '*.c')
exit $bad
