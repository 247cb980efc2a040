#!/usr/bin/env bash
# Fails if a file of plugin/ includes a higher floor, if a floor below `ode` includes ODE, if a demo includes what is
# private to the plugin, if a line is longer than 120 columns, or if docs/architecture.md does not name a file of
# plugin/solve.      check_floors.sh SOURCE_DIR
set -euo pipefail
root=$1
floors=(base linalg problem solve analysis ode api preload)

height() {
    for i in "${!floors[@]}"; do [ "${floors[$i]}" = "$1" ] && echo "$i" && return; done
    echo -1
}

bad=0
complain() {
    echo "$1"
    bad=1
}

for floor in "${floors[@]}"; do
    here=$(height "$floor")
    for file in "$root/plugin/$floor"/*.[ch]; do
        [ -e "$file" ] || continue
        while read -r included; do
            there=$(height "${included%%/*}")
            [ "$there" -le "$here" ] || complain "$file: includes $included, a higher floor"
        done < <(sed -n 's/^ *# *include *"\([a-z]*\/[^"]*\)".*/\1/p' "$file")
        if [ "$here" -lt "$(height ode)" ] && grep -qE '^ *# *include *<(ode/|sprag/(sprag_ode|drop_in))' "$file"; then
            complain "$file: includes ODE below the ode floor"
        fi
    done
done

for file in "$root"/demos/*.[ch] "$root"/demos/*/*.[ch]; do
    [ -e "$file" ] || continue
    while read -r included; do
        [ "$(height "${included%%/*}")" -lt 0 ] || complain "$file: includes the plugin's private $included"
    done < <(sed -n 's/^ *# *include *"\([a-z]*\/[^"]*\)".*/\1/p' "$file")
done
while read -r file; do
    complain "$file: a line beyond 120 columns"
done < <(find "$root"/plugin "$root"/demos "$root"/tests -name '*.[ch]' -exec grep -lE '^.{121}' {} +)
for file in "$root"/plugin/solve/*.c; do
    [ -e "$file" ] || continue
    name=$(basename "$file" .c)
    grep -qE "^\| .*\`$name\`.* \||\`solve/$name(\.c)?\`" "$root/docs/architecture.md" || complain "$file: not in docs/architecture.md"
done
exit $bad
