#!/usr/bin/env bash
# Debian has no ODE of single precision: builds one from the source of its package, then Sprag and its tests against it.
# Nightly: a download and some minutes.      test_single.sh SOURCE_DIRECTORY WORK_DIRECTORY
set -euo pipefail
source=$1 work=$2
mkdir -p "$work"
cd "$work"
"$source/tests/support/ode_source.sh" "$work/source" || exit $?

if [ ! -e ode/lib/pkgconfig/ode.pc ]; then
    cmake -S source/ode-0.16.2 -B ode-build -G Ninja -DODE_DOUBLE_PRECISION=OFF -DODE_WITH_DEMOS=OFF -DODE_WITH_TESTS=OFF \
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PWD/ode" -DCMAKE_INSTALL_RPATH="$PWD/ode/lib" >log 2>&1
    cmake --build ode-build --target install >/dev/null
fi

export PKG_CONFIG_PATH=$PWD/ode/lib/pkgconfig LD_LIBRARY_PATH=$PWD/ode/lib
cmake -S "$source" -B sprag -G Ninja -DBUILD_TESTING=ON -DCMAKE_C_FLAGS=-Werror >/dev/null
cmake --build sprag >log || { cat log; exit 1; }
ctest --test-dir sprag --no-tests=error --output-on-failure -j "$(nproc)"

# With double headers before a single libode, configuring must stop.
rm -rf mixed headers
mkdir headers
cp -r "$(PKG_CONFIG_PATH='' pkg-config --variable=includedir ode)/ode" headers/
if CPATH=$PWD/headers cmake -S "$source" -B mixed -G Ninja >log 2>&1; then
    echo "FAILED: a mixture of precisions is not noticed"
    exit 1
fi
grep -q "of different precision" log || { cat log; exit 1; }
rm -rf mixed headers
echo "1 passed, 0 failed"
