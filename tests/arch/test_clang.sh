#!/bin/sh
# test_clang.sh SOURCE_DIR ODE_FLAGS...: what has vectors compiles with clang too, which inlines no function of vectors
# into one for a wider processor, unless that is compiled for it as well.  (77: there is no clang.)
set -e
command -v clang >/dev/null || exit 77
cd "$1"
shift
for file in $(grep -lE '#include "linalg/(quad|oct|hex)\.h"|SPRAG_QUAD|solve/greedy/greedy_row\.h' -r plugin --include='*.c'); do
    clang -std=gnu11 -Wall -Wextra -Werror -Wno-psabi -ffp-contract=off -Iplugin -Iplugin/include "$@" \
        -c "$file" -o /dev/null
done
