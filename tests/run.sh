#!/usr/bin/env bash
# Installs what is missing, builds, runs every test.
#     tests/run.sh           all tests of CI
#     tests/run.sh --all     the nightly ones too
# BUILD_DIR (default build) and CMAKE_ARGS may be set.
set -euo pipefail
cd "$(dirname "$0")/.."

exclude=(-LE nightly)
packages=all
case "${1:-}" in
"") ;;
--all)
    exclude=()
    packages=nightly
    ;;
*)
    echo "tests/run.sh: unknown argument '$1'; --all or nothing" >&2
    exit 2
    ;;
esac

third_party/install.sh $packages
build=${BUILD_DIR:-build}
# shellcheck disable=SC2086
cmake -S . -B "$build" -G Ninja -DBUILD_TESTING=ON ${CMAKE_ARGS:-} >/dev/null
cmake --build "$build"
ctest --test-dir "$build" --no-tests=error --output-on-failure --timeout 600 -j "$(nproc)" "${exclude[@]}"
