#!/usr/bin/env bash
# The floors check itself: the tree passes, and each kind of violation is found.
set -euo pipefail
root=$1
check=$root/tests/arch/check_floors.sh
"$check" "$root"

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/plugin/{base,solve/{contact,newton},ode/rows} "$tree"/demos/viewer "$tree"/tests "$tree"/docs
echo "| \`a\` | known |" >"$tree/docs/architecture.md"
expect_failure() {
    if "$check" "$tree" >/dev/null; then
        echo "not found: $1"
        exit 1
    fi
    find "$tree" -name '*.c' -delete
}
echo '#include "solve/solver.h"' >"$tree/plugin/base/a.c"
expect_failure "an upward include"
echo '#include "solve/newton/newton.h"' >"$tree/plugin/solve/contact/a.c"
expect_failure "an upward include within a floor"
mkdir "$tree/plugin/ode/cellar"
echo >"$tree/plugin/ode/cellar/a.c"
expect_failure "a folder that is no floor"
echo '#include <ode/ode.h>' >"$tree/plugin/solve/a.c"
expect_failure "ODE below its floor"
echo '#include "solve/solver.h"' >"$tree/demos/viewer/a.c"
expect_failure "the viewer in the plugin"
echo >"$tree/plugin/solve/newton/b.c"
expect_failure "a solver nobody explains"
printf '%0121d\n' 0 >"$tree/plugin/base/a.c"
expect_failure "a line of 121 columns"
printf '%0120d\n' 0 >"$tree/plugin/base/a.c"
"$check" "$tree"
echo '#include "solve/solver.h"' >"$tree/plugin/ode/rows/a.c"
"$check" "$tree"
echo "1 passed, 0 failed"
