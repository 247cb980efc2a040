# Sourced by tests of programs: a folder of its own, and what every refusal must be.      . tool.sh PROGRAM
set -uo pipefail
tool=$(realpath "$1")
scratch=$(mktemp -d) # the test works here
said=$(mktemp -d)    # what a refused program printed: out, err
trap 'rm -rf "$scratch" "$said"' EXIT
cd "$scratch" || exit 1
unset DISPLAY WAYLAND_DISPLAY
failed=0

fail() {
    echo "FAILED: $1"
    failed=1
}

# refused WORDS ARGUMENTS...: exit 2, nothing on stdout, exactly one line on stderr with the words, no file made.
# $wrap goes before the program.
refused() {
    local words=$1 before
    shift
    before=$(ls -A)
    ${wrap:-} "$tool" "$@" >"$said/out" 2>"$said/err"
    [ $? -eq 2 ] || fail "$*: exit code is not 2"
    [ ! -s "$said/out" ] || fail "$*: printed $(cat "$said/out")"
    [ "$(wc -l <"$said/err")" -eq 1 ] || fail "$*: not one line: $(cat "$said/err")"
    grep -q -F -e "$words" "$said/err" || fail "$*: '$(cat "$said/err")' does not say '$words'"
    [ "$(ls -A)" = "$before" ] || fail "$*: left $(ls -A)"
}

# lost ARGUMENTS...: what it prints finds a full disk: exit 2, one line on stderr.
lost() {
    [ -w /dev/full ] || return
    "$tool" "$@" >/dev/full 2>"$said/err"
    [ $? -eq 2 ] || fail "$*: a full disk goes unnoticed"
    [ "$(wc -l <"$said/err")" -eq 1 ] || fail "$*: a full disk: not one line: $(cat "$said/err")"
    grep -q -F 'stdout cannot be written' "$said/err" || fail "$*: a full disk: $(cat "$said/err")"
}

finish() {
    [ $failed -eq 0 ] && echo 'passed'
    exit $failed
}
