#!/usr/bin/env bash
# Runs the whole benchmark and writes docs/benchmarks.md, its numbers as JSON beside it, and the performance profile.
#     demos/benchmark.sh            all of it: 20 minutes on two cores
#     demos/benchmark.sh --quick    small scenes and piles only, into the build tree: minutes
#     demos/benchmark.sh --mujoco   docs/benchmarks_mujoco.md: what should lie still, under MuJoCo too.  Needs node and
#                                   npm, and takes MuJoCo from npm's registry
#     demos/benchmark.sh --siconos REPOSITORY
#                                   docs/benchmarks_siconos.md: the problems of Siconos' own tests, of its repository
# BUILD_DIR (default build-bench), PROBLEMS (default ../shared/problems), LIMIT (s per method and file, default 10) and
# CMAKE_ARGS may be set.
set -euo pipefail
export LC_ALL=C # awk reads and writes decimal points
cd "$(dirname "$0")/.."

quick=0 siconos= mujoco=0
case "${1:-}" in
"") ;;
--quick) quick=1 ;;
--mujoco) mujoco=1 ;;
--siconos)
    siconos=${2:?expected the folder of the repository}/numerics/src/FrictionContact/test/data
    [ -d "$siconos" ] || { echo "demos/benchmark.sh: there is no $siconos" >&2 && exit 2; }
    ;;
*)
    echo "demos/benchmark.sh: unknown argument '$1'; --quick, --mujoco, --siconos REPOSITORY or nothing" >&2
    exit 2
    ;;
esac

third_party/install.sh bench
build=${BUILD_DIR:-build-bench}
problems=${PROBLEMS:-../shared/problems}
# shellcheck disable=SC2086
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF ${CMAKE_ARGS:-} >/dev/null
cmake --build "$build" --target sprag-bench sprag-solve >/dev/null
bench=$build/demos/sprag-bench
page=docs/benchmarks.md data=docs/benchmarks
scenes=() scaling=() limit=${LIMIT:-10}
if [ $quick = 1 ]; then
    data=$build/out page=$build/out/benchmarks.md scenes=(--quick) scaling=(--bodies 100) limit=1
fi
[ -z "$siconos" ] || page=docs/benchmarks_siconos.md
mkdir -p "$data"

version() { dpkg-query -W -f='${Version}' "$1" 2>/dev/null || echo none; }

# suite TITLE ARGUMENTS...: runs it, its words under a heading and the command
suite() {
    local title=$1
    shift
    echo "sprag-bench $*" >&2
    printf '\n## %s\n\n`sprag-bench %s`\n\n' "$title" "$*"
    "$bench" "$@" || [ $? -eq 1 ] # 1: a figure is missed, which the page is to show
}

# head_of TITLE: what every page begins with
head_of() {
    cat <<END
# $1

Written by \`demos/benchmark.sh\`; do not edit. Times drift on shared machines: only ratios within one table mean anything.
A residual is \`spragProblemResidual\` for every solver, in m/s: the natural map with De Saxcé's change of variable.

| | |
|---|---|
| date | $(date -u +'%Y-%m-%d %H:%M') UTC |
| commit | $(git rev-parse --short HEAD)$(git diff --quiet HEAD || echo ', changed') |
| machine | $(nproc) x $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(awk '/MemTotal/ {printf "%.0f GB", $2 / 1048576}' /proc/meminfo), load $(cut -d' ' -f1 /proc/loadavg) at the start |
| compiler | $(cc --version | head -1), Release |
| peers | ODE $(version libode8), Siconos $(version libsiconos-numerics7), Bullet $(version libbullet3.24), DART $(version libdart6.12) |
END
}

# problem_files TITLE ARGUMENTS...: its table as it is printed
problem_files() {
    local title=$1
    shift
    suite "$title" problems "$@" | sed -e '/^ms, min/,/^auto:/{/^$/d}' -e 's/^ms, min/```\n&/' -e 's/^auto:/```\n\n&/'
}

# Files that hold no problem, or one without contacts, are left out.
siconos_page() {
    local files=() left_out=() file status
    for file in "$siconos"/*.dat "$siconos"/*.hdf5; do
        status=0
        timeout 60 "$build/demos/sprag-solve" "$file" >/dev/null 2>&1 || status=$?
        if [ $status = 2 ]; then left_out+=("$(basename "$file")"); else files+=("$(basename "$file")"); fi
    done
    head_of "Problems of Siconos' own tests"
    bench=$(realpath "$bench")
    local json
    json=$(realpath "$data")/siconos.json
    (cd "$siconos" && problem_files "\`numerics/src/FrictionContact/test/data\`" --time-limit "$limit" --json "$json" "${files[@]}") |
        sed "/^\`sprag-bench/,/^$/d"
    printf '\nNo such problems: %s.\n' "${left_out[*]}"
}

if [ $mujoco = 1 ]; then
    npm install --silent --no-audit --no-fund --prefix "$build" @mujoco/mujoco@3.14.0
    "$bench" rest --json "$data/rest.json" >&2
    {
        head_of "At rest, under MuJoCo too"
        printf '\n`demos/benchmark.sh --mujoco`: `sprag-bench rest` with [MuJoCo](https://mujoco.org) beside. All begin with the\n'
        printf 'same bodies, and each engine finds its own contacts; DART has those of ODE.\n\n'
        node demos/bench/mujoco.mjs "$bench" "$data/rest.json" "$build/node_modules/@mujoco/mujoco"
    } >"$data/page.md"
    mv "$data/page.md" docs/benchmarks_mujoco.md
    echo docs/benchmarks_mujoco.md
    exit
fi
if [ -n "$siconos" ]; then
    siconos_page >"$data/page.md"
    mv "$data/page.md" "$page"
    echo "$page"
    exit
fi

{
    head_of Benchmarks
    if [ -d "$problems" ]; then
        problem_files "Problem files" --dir "$problems" --time-limit "$limit" --json "$data/problems.json" --svg "$data/profile.svg"
        if [ $quick = 0 ]; then
            printf '\nThe two hardest, by `sprag-solve` without a limit of time:\n\n'
            for file in p22_box200_mu1 p23_sph1000; do
                { "$build/demos/sprag-solve" "$problems/$file.txt" || [ $? -eq 1 ]; } |
                    awk -v file=$file '$1 ~ /^(status|residual|time|note)$/ { key = $1; sub(/^[a-z]+ */, ""); value[key] = $0 }
                        END { printf "- %s: %s, residual %s, %s%s\n", file, value["status"], value["residual"], value["time"],
                                     "note" in value ? "; " value["note"] : "" }'
            done
        fi
        printf '\n![share of problems solved within a factor of the fastest](%sprofile.svg)\n' \
            "$([ $quick = 1 ] || echo benchmarks/)"
    fi
    suite "Scenes" scenes "${scenes[@]}" --json "$data/scenes.json"
    [ $quick = 1 ] || suite "At rest" rest --json "$data/rest.json"
    suite "Scaling" scaling "${scaling[@]}" --json "$data/scaling.json"
    suite "Variants" variants --json "$data/variants.json"
    suite "Accuracy" accuracy
} >"$data/page.md"
mv "$data/page.md" "$page"
echo "$page"
