#!/usr/bin/env bash
# sprag-solve as its users meet it: exit codes, one line for every bad input, the output. test_solve_file.sh SPRAG_SOLVE
. "$(dirname "$0")/../support/tool.sh" "$1"

# A unit mass pressed on the ground by 1 N s and pushed sideways by 0.25 N s at mu 0.5: it sticks.
cat >stick.txt <<'END'
# a comment
1 1
0.5 0 -1
-1 0.25 0
0 0  1 0 0  0 1 0  0 0 1
END
# The same, pushed harder than friction holds.
sed 's/0.25/0.75/' stick.txt >slip.txt

refused 'a problem file is needed'
refused "unknown option '--colour'" stick.txt --colour
refused 'one file at a time' stick.txt slip.txt
refused '--solver needs a value' stick.txt --solver
refused "no solver 'magic'" stick.txt --solver magic
refused "no solver 'stock'" stick.txt --solver stock
refused '--tol needs a value' stick.txt --tol
for tol in 0 -1 nan inf much 0x1 1e-8x ''; do refused 'a number > 0' stick.txt --tol "$tol"; done
refused 'nowhere.txt: No such file' nowhere.txt
refused 'nowhere.hdf5: No such file' nowhere.hdf5
refused "$scratch: " "$scratch"

# broken WORDS SED-SCRIPT: the file, damaged, is refused by name
broken() {
    sed "$2" stick.txt >broken.txt
    refused "$1" broken.txt
    grep -q '^sprag-solve: broken.txt' "$said/err" || fail "$2: '$(cat "$said/err")' does not name the file"
}
broken 'broken.txt: the file ends at line 1, expected the number of contacts' 'd'
broken 'broken.txt: the file ends at line 6, expected an entry of W' '5s/ 1$/  /'
broken 'broken.txt:2: 1 contacts and 1 blocks do not fit' '5d'
broken "broken.txt:3: '-0.5', expected mu >= 0" 's/^0.5/-0.5/'
broken "broken.txt:4: 'nan', expected" 's/0.25/nan/'
broken "broken.txt:4: 'inf', expected" 's/0.25/inf/'
broken "broken.txt:5: '1', expected a block column" 's/^0 0/0 1/'
broken "broken.txt:2: 2 contacts and 9 blocks do not fit" 's/^1 1$/2 9/'
broken "broken.txt:6: 'more', expected" '$a more'
broken 'broken.txt: diagonal block 0' 's/^0 0  1 0 0/0 0 -1 0 0/'
broken 'broken.txt: diagonal block 0' '5s/.*/0 0  1 2 0  2 1 0  0 0 1/'
broken 'broken.txt: W of block (0, 0) is not finite, or beyond 1e60' 's/^0 0  1 0 0/0 0 1e300 0 0/'
broken "broken.txt: |W - W'|" 's/^0 0  1 0 0/0 0  1 0.1 0/'
# W asymmetric by the rounding of its source is solved as given, and said so; more is refused (above).
sed 's/^0 0  1 0 0/0 0  1 0.009 0/' stick.txt >askew.txt
"$tool" askew.txt >out || fail 'askew.txt is not solved'
grep -q '^note  *W is asymmetric by 0.009 of its largest entry; solved as given$' out || fail "askew: $(cat out)"
"$tool" askew.txt --json | grep -q '"status":"solved",.*"asymmetry":0.00[89]' || fail 'askew.txt: JSON'
broken "|W - W'| is 0.011 of the largest entry" 's/^0 0  1 0 0/0 0  1 0.011 0/'
# What follows -- is a file, and a name of any bytes leaves the JSON valid.
cp stick.txt ./-odd.txt
refused "unknown option '-odd.txt'" -odd.txt
refused 'one file at a time' -- -odd.txt --json
"$tool" --json -- -odd.txt | grep -q '^{"file":"-odd.txt","status":"solved"' || fail '-- is no option'
name=$(printf 'a"\303\244\377\303-\340\200\200.txt')
cp stick.txt "$name"
"$tool" --json "$name" >out || fail "'$name' is not solved"
LC_ALL=C grep -qF "$(printf '{"file":"a\\"\303\244\\ufffd\\ufffd-\\ufffd\\ufffd\\ufffd.txt",')" out || fail "JSON: $(cat out)"
cp stick.txt text.h5
refused 'text.h5:1: expected an HDF5 file' text.h5

"$tool" stick.txt >out || fail 'stick.txt is not solved'
grep -q '^status  *solved$' out || fail "no status: $(cat out)"
grep -q '^time .* ms$' out || fail "no time: $(cat out)"
for solver in auto variant lemke gauss-seidel newton; do
    "$tool" slip.txt --solver $solver --tol 1e-12 --json >out || fail "slip.txt is not solved by $solver"
    grep -q '^{"file":"slip.txt","status":"solved",.*"milliseconds":[0-9.e-]*,.*}$' out || fail "JSON: $(cat out)"
    [ "$(wc -l <out)" -eq 1 ] || fail 'JSON of more than one line'
done

# No answer is this good: the best one, its residual, and exit code 1.
"$tool" slip.txt --tol 1e-300 --json >out 2>err
case $? in
0) grep -q '"residual":0,' out || fail "solved to 1e-300 with $(cat out)" ;;
1) grep -q '"status":"not-converged".*"residual":[0-9]' out || fail "not converged: $(cat out)" ;;
*) fail "tolerance 1e-300: $(cat err)" ;;
esac

# Two walls push a unit mass from both sides, which no impulses can obey: said so, with the contacts and bodies between.
cat >jam.txt <<'END'
2 4
0.5 4 -1
0.5 -1 4
-1 0 0
-0.5 0 0
0 0  1 0 0  0 1 0  0 0 1
0 1  -1 0 0  0 1 0  0 0 -1
1 0  -1 0 0  0 1 0  0 0 -1
1 1  1 0 0  0 1 0  0 0 1
END
"$tool" jam.txt >out
[ $? -eq 1 ] || fail 'jam.txt: exit code'
grep -q '^note  *a solution need not exist: friction locks a wedge that closes at 0.7[0-9]* m/s$' out || fail "jam: $(cat out)"
grep -q '^note  *the wedge: contacts 0 1, bodies world 4 (from 0, as in the file)$' out || fail "jam: $(cat out)"
"$tool" jam.txt --json >out
grep -q '"solution_assured":false,.*"wedge_contacts":\[0,1\]}$' out || fail "jam: $(cat out)"

lost stick.txt
lost stick.txt --json
lost --help
lost --version
"$tool" --version | grep -q '^sprag-solve [0-9]' || fail '--version'
"$tool" --help | grep -q -e '--solver' || fail '--help'
finish
