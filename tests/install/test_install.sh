#!/usr/bin/env bash
# Installs the build into a scratch prefix and builds a consumer against it, with CMake's package (shared and static)
# and with pkg-config.      test_install.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
source=$1 build=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --install "$build" --prefix "$scratch/first" >/dev/null
mv "$scratch/first" "$scratch/prefix" # what is installed may be moved

cmake -S "$source/tests/install" -B "$scratch/consumer" -DCMAKE_PREFIX_PATH="$scratch/prefix" >/dev/null
cmake --build "$scratch/consumer" >/dev/null
"$scratch/consumer/consumer_shared"
"$scratch/consumer/consumer_static"
"$scratch/consumer/consumer_classes"

# A project with Sprag's source among its own has the same targets, and neither tests nor programs of Sprag.
cmake -S "$source/tests/install" -B "$scratch/among" -DSPRAG_SOURCE="$source" >"$scratch/log" 2>&1 ||
    { cat "$scratch/log"; exit 1; }
targets=$(cmake --build "$scratch/among" --target help)
grep -qw consumer_static <<<"$targets" && ! grep -qE 'sprag-solve|test_' <<<"$targets" ||
    { echo "Sprag within a project has targets: $targets"; exit 1; }

# Who has ODE alone gets the libraries: what the tests and the viewer need is not asked for.
mkdir "$scratch/ode"
cp "$(pkg-config --variable=pcfiledir ode)/ode.pc" "$scratch/ode"
PKG_CONFIG_LIBDIR=$scratch/ode PKG_CONFIG_PATH='' cmake -S "$source" -B "$scratch/alone" >"$scratch/log" 2>&1 ||
    { cat "$scratch/log"; exit 1; }
grep -q 'tests are left out' "$scratch/log" || { echo "nothing is said of the tests that are left out"; exit 1; }

# Arithmetic without NaN is refused.
if CFLAGS=-Ofast cmake -S "$source" -B "$scratch/fast" >"$scratch/log" 2>&1 || ! grep -q 'IEEE 754' "$scratch/log"; then
    echo "-Ofast is not refused:"
    cat "$scratch/log"
    exit 1
fi
cmake -S "$source" -B "$scratch/fast" -DCMAKE_C_FLAGS= -DBUILD_TESTING=OFF >"$scratch/log" 2>&1 ||
    { echo "flags that are mended are refused:"; cat "$scratch/log"; exit 1; }
if "${CC:-cc}" -Ofast -fsyntax-only -I"$source/plugin" "$source/plugin/base/floats.c" 2>/dev/null; then
    echo "-Ofast that CMake does not see is not refused"
    exit 1
fi

# A program that has its own Sprag, preloaded as well: the preloaded one stands aside.
preload=$(find "$scratch/prefix" -name libsprag_preload.so)
for kind in shared static; do
    LD_PRELOAD=$preload SPRAG_REPORT=1 "$scratch/consumer/consumer_$kind" 2>"$scratch/err" ||
        { echo "consumer_$kind fails under the preload"; cat "$scratch/err"; exit 1; }
    [ "$(cat "$scratch/err")" = "sprag: not active: this program calls Sprag itself" ] ||
        { echo "consumer_$kind under the preload says:"; cat "$scratch/err"; exit 1; }
done

for tool in sprag-solve sprag-bench sprag-view sprag-map; do
    [ ! -e "$build/demos/$tool" ] && continue
    "$scratch/prefix/bin/$tool" --version | grep -q "^$tool [0-9]" && "$scratch/prefix/bin/$tool" -h | grep -q -- --help ||
        { echo "$tool is not installed, or does not run"; exit 1; }
done

pc=$(dirname "$(find "$scratch/prefix" -name sprag.pc)")
export PKG_CONFIG_PATH=$pc${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
# shellcheck disable=SC2046
cc -o "$scratch/by_pc" "$source/tests/install/consumer.c" $(pkg-config --cflags --libs sprag) -lm
LD_LIBRARY_PATH=$(pkg-config --variable=libdir sprag)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$scratch/by_pc"
# The shared library exports what the headers declare, and nothing else.
foreign=$(nm -D --defined-only "$(find "$scratch/prefix" -name 'libsprag.so.*.*')" | awk '{print $3}' | grep -v '^sprag' || true)
[ -z "$foreign" ] || { echo "libsprag.so exports: $foreign"; exit 1; }
# Neither it nor the preload library loads more than ODE and AMD: HDF5, and all that needs, comes with the first such file.
for library in "$(find "$scratch/prefix" -name 'libsprag.so.*.*')" "$preload"; do
    foreign=$(readelf -d "$library" | awk '/NEEDED/ {print $NF}' |
        grep -vE '^\[(libode|libamd|libm|libc|ld-linux-.*|lib[a-z]+san)\.so' || true)
    [ -z "$foreign" ] || { echo "$library loads $foreign"; exit 1; }
done
echo "1 passed, 0 failed"
