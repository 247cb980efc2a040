#!/usr/bin/env bash
# Installs what is missing, builds, runs every test, and says at the end what passed, failed, or was skipped, and why.
#     tests/run.sh           all tests of CI
#     tests/run.sh --all     the nightly ones too: games and ODE's demo programs under the preload library, Sprag and
#                            ODE in single precision, longer piles; half an hour and more, and two downloads from Debian
# Nobody need be there, and it may be run again at any time.  BUILD_DIR (default build) and CMAKE_ARGS may be set.
set -euo pipefail
cd "$(dirname "$0")/.."

nightly=OFF
case "${1:-}" in
"") ;;
--all) nightly=ON ;;
*)
    echo "tests/run.sh: unknown argument '$1'; --all or nothing" >&2
    exit 2
    ;;
esac

third_party/install.sh all
if [ $nightly = ON ]; then
    third_party/install.sh games || echo "tests/run.sh: no games can be installed; their test is skipped" >&2
fi
build=${BUILD_DIR:-build}
# shellcheck disable=SC2086
cmake -S . -B "$build" -G Ninja -DBUILD_TESTING=ON -DSPRAG_NIGHTLY=$nightly ${CMAKE_ARGS:-} >/dev/null
cmake --build "$build"

status=0
ctest --test-dir "$build" --no-tests=error --output-on-failure --timeout 3600 -j "$(nproc)" | tee "$build/tests.log" || status=$?

# Of what was skipped, the reason: the line that begins so, of a whole test or of a part.
awk '/^[0-9]+\/[0-9]+ Testing: / {test = $3}
    /^skipped: / {print test ": " $0}' "$build/Testing/Temporary/LastTest.log"
awk '/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / { # but for those of a test that has tests of its own
        sub(/^.*\//, "", $1)
        if (all == 0) all = $1
        if ($1 != all) next
        if (/\*\*\*Skipped/) skipped++
        else if (/ Passed /) passed++
        else { failed++; print "failed: " $4 }
    }
    END {printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped}' "$build/tests.log"
exit $status
