#!/usr/bin/env bash
# Installs what Sprag needs from Debian's packages, only what is missing.
# Shared by demos/run.sh, tests/run.sh, .ci/run.
# third_party/install.sh [build|tests|demos|bench|games|all] default: all, but for the peers of the benchmark and
#                                                                     the games of the nightly tests
# README.md beside this file says what each package is for.
set -euo pipefail

build=(build-essential cmake ninja-build pkg-config git libode-dev libsuitesparse-dev libhdf5-dev)
tests=(libcmocka-dev curl ca-certificates valgrind clang-format python3 python3-pyode xvfb xauth)
demos=(libglfw3-dev libepoxy-dev libegl-dev libcglm-dev libpng-dev libimgui-dev fonts-dejavu-core libgl1-mesa-dri libgl1 libegl1
    xvfb xauth ffmpeg)

peers=(libsiconos-numerics-dev libbullet-dev libdart-dev libdart-collision-ode-dev)
games=(xdotool mu-cade mokomaze stormbaancoureur xmoto)

case "${1:-all}" in
build) packages=("${build[@]}") ;;
tests) packages=("${build[@]}" "${tests[@]}") ;;
demos) packages=("${build[@]}" "${demos[@]}") ;;
bench) packages=("${build[@]}" "${peers[@]}") ;;
all) packages=("${build[@]}" "${tests[@]}" "${demos[@]}") ;;
games) packages=("${games[@]}") ;; # those that are to be had: without them a test is skipped
*)
    echo "install.sh: unknown set '$1'; one of build, tests, demos, bench, games, all" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "install.sh: this is no Debian or Ubuntu. Please install what these Debian packages hold, then run again:" >&2
    printf '    %s\n' "${packages[@]}" >&2
    command -v cmake >/dev/null && command -v pkg-config >/dev/null && pkg-config --exists ode && exit 0
    exit 2
fi

missing=()
for package in "${packages[@]}"; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

sudo=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "install.sh: need root to install: ${missing[*]}" >&2
        echo "install.sh: run as root:  apt-get install ${missing[*]}" >&2
        exit 2
    fi
    sudo=(sudo)
fi
echo "install.sh: installing ${missing[*]}"
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
if [ "${1:-}" = games ]; then
    for package in "${missing[@]}"; do
        "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" \
            >/dev/null || echo "install.sh: cannot install $package" >&2
    done
    exit 0
fi
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
