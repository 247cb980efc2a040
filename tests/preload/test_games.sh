#!/usr/bin/env bash
# Games of Debian that step ODE, each in play under Xvfb with and without the preload library: they do not crash, ODE
# says nothing that stock did not, and the report has its numbers.  Nightly: needs the games, a minute each.
#     test_games.sh PRELOAD_LIBRARY
set -uo pipefail
export LC_ALL=C # awk reads and writes decimal points
preload=$1
for tool in Xvfb xdotool; do
    command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
scratch=$(mktemp -d)
export HOME=$scratch SDL_AUDIODRIVER=dummy
server=
trap '[ -n "$server" ] && kill $server; rm -rf "$scratch"' EXIT
failed=0 played=0
complain() {
    echo "FAILED: $1"
    failed=$((failed + 1))
}

# press KEY[:SECONDS]...; a number waits, X,Y moves the mouse there
press() {
    for key; do
        case $key in
        *,*) xdotool mousemove "${key%,*}" "${key#*,}" ;;
        *:*) xdotool keydown "${key%:*}" && sleep "${key#*:}" && xdotool keyup "${key%:*}" ;;
        [0-9]*) sleep "$key" ;;
        *) xdotool key "$key" ;;
        esac
    done
}

# openScreen: an X server that answers, in $server and $DISPLAY.  (Two that start at once may want the same number; one
# that resets when its last client leaves refuses who comes meanwhile.)
openScreen() {
    for _ in 1 2 3 4 5; do
        : >"$scratch/display"
        Xvfb -noreset -displayfd 3 -screen 0 800x600x24 3>"$scratch/display" >/dev/null 2>&1 &
        server=$!
        for _ in $(seq 100); do [ -s "$scratch/display" ] && break; sleep 0.1; done
        DISPLAY=:$(cat "$scratch/display")
        export DISPLAY
        [ "$DISPLAY" != : ] && xdotool getdisplaygeometry >/dev/null 2>&1 && kill -0 $server 2>/dev/null && return
        kill $server 2>/dev/null
    done
    complain "no X server answers"
    return 1
}

# isUp PID: 1 where the game ended before it showed a window, or shows none for four minutes
isUp() {
    for _ in $(seq 480); do
        kill -0 "$1" 2>/dev/null || return 1
        xdotool search --onlyvisible --name . >/dev/null 2>&1 && sleep 4 && kill -0 "$1" 2>/dev/null && return 0
        sleep 0.5
    done
    return 1
}

# play LOG "GAME ARGUMENTS..." KEYS...: 0 if the game still ran when its X server
# went away, which ends it in its own way
play() {
    local log=$1 pid alive=1
    local -a game
    read -ra game <<<"$2"
    shift 2
    openScreen || return 1
    for _ in 1 2 3; do # some do not come up every time, with or without us
        "${game[@]}" >"$log" 2>&1 &
        pid=$!
        isUp $pid && break
        kill -9 $pid 2>/dev/null
    done
    press "$@" 2>/dev/null
    kill -0 $pid 2>/dev/null || alive=0
    kill $server
    server=
    for _ in $(seq 600); do kill -0 $pid 2>/dev/null || break; sleep 0.1; done
    kill -9 $pid 2>/dev/null
    wait 2>/dev/null
    [ $alive -eq 1 ]
}

# test_game "GAME ARGUMENTS..." KEYS...
test_game() {
    local game=/usr/games/$1 name=${1%% *}
    local log=$scratch/$name
    [ -x "/usr/games/$name" ] || { echo "skipped: $name is not installed"; return; }
    played=$((played + 1))
    play "$log.stock" "$game" "${@:2}" || { complain "$name does not run as it is: $(tail -1 "$log.stock")"; return; }
    LD_PRELOAD=$preload SPRAG_REPORT=1 play "$log" "$game" "${@:2}" || complain "$name ends early: $(tail -1 "$log")"
    echo "$name: $(grep -E '^sprag: ([0-9]* worlds|worst|declined|.* ms a step)' "$log" | sed 's/^sprag: //' | tr '\n' ';')"
    while read -r message; do
        grep -qF "$message" "$log.stock" || complain "$name: '$message', which stock does not say"
    done < <(grep '^ODE' "$log" | sed 's/[-+0-9.e]*[0-9]//g' | sort -u)
    awk '/^sprag: [0-9]* worlds/ {exit !($4 >= 200 && $8 >= 100)}' "$log" || complain "$name was not in play"
    grep -q 'worst residual' "$log" || complain "$name: no report"
    awk '/worst residual/ {exit !($4 <= 1e-6)}' "$log" ||
        complain "$name: $(grep 'worst residual' "$log")"
    local declined said
    declined=$(awk '/declined islands/ {print $4 + 0}' "$log")
    said=$(awk '/sprag: declined [0-9]* times/ {sum += $3} END {print sum + 0}' "$log")
    [ "${declined:-0}" -eq "$said" ] || complain "$name: $declined islands declined, reasons for $said"
}

test_game mu-cade 300,200 z 2 Up:2 z:1 Left:2 z:1 Up:3 Right:2 Up:4
test_game mokomaze 300,200 Right:3 Left:3 Down:3 Up:2 Right:2
test_game "xmoto --nowww --nosound -win --ugly -l Tradit1234567" 20 Return 3 Up:3 Down:2 Up:2 space Up:2 Left:1 Up:2
test_game stormbaancoureur 300,200 1 Return 4 Up:5 Left:2 Up:4 Right:3 Up:4

[ $played -gt 0 ] || { echo "skipped: no game is installed"; exit 77; }
echo "$played passed, $failed failed"
[ $failed -eq 0 ]
