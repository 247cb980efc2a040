#!/usr/bin/env bash
# What of the plugin knows ODE compiles with reals of single precision too: Debian's header has both.  (test_single.sh
# builds and runs that, nightly.)
#     test_reads.sh SOURCE_DIRECTORY
set -euo pipefail
cd "$1/plugin"
read -ra flags <<<"$(pkg-config --cflags ode)"
cc -std=gnu11 -fsyntax-only -DdIDESINGLE -DSPRAG_ODE_SONAME='""' -Wall -Wextra -Wpedantic -Wconversion -Wno-psabi -Werror \
    -I. -Iinclude "${flags[@]}" ode/*/*.c api/*.c preload/*.c
echo "1 passed, 0 failed"
