#!/usr/bin/env bash
# sprag-bench as its users meet it: exit codes, one line for every bad argument, tables, JSON.
#     test_bench.sh SPRAG_BENCH
. "$(dirname "$0")/../support/tool.sh" "$1"

refused 'a suite is needed'
refused "no suite 'magic'" magic
refused "'no-such-scene'" scenes no-such-scene
refused '--json needs a file' scenes --json
refused '/no/such/folder/a.json: No such file' scenes rod --json /no/such/folder/a.json
refused '/no/such/folder/a.json: No such file' scaling --json /no/such/folder/a.json
refused '/no/such/folder/a.json: No such file' rest --json /no/such/folder/a.json
refused "unexpected argument '--json'" rest --json
refused "no scene 'no-such-scene'" mjcf no-such-scene
refused "expected KEY=VALUE, not 'twelve'" mjcf stack twelve
refused 'it has joints' mjcf gripper
refused 'it has bodies that are not one shape each' mjcf top
refused 'no option --colour' scaling --colour red
refused 'no option --colour' variants --colour red
refused '--json needs a value' variants --json
refused '--bodies needs a value' scaling --bodies
refused 'expected balls or boxes' scaling --kind cubes
for bodies in 0 many 99 10001 100x; do refused 'expected 100 to 10000' scaling --bodies "$bodies"; done
for tol in 0 -1 nan inf much; do refused 'a number > 0' scaling --tol "$tol"; done
refused 'no option --colour' problems --colour
refused '/no/such/folder: No such file' problems --dir /no/such/folder
refused '--dir says where' problems
refused 'expected seconds' problems --time-limit never

# A contact that sticks (test_solve_file.sh) and one that slips.
printf '1 1\n0.5 0 -1\n-1 0.25 0\n0 0  1 0 0  0 1 0  0 0 1\n' >stick.txt
sed 's/0.25/0.75/' stick.txt >slip.txt

# Output that cannot be written is refused before the run, and leaves nothing of the other.
refused '/no/such/folder/a.json: No such file' problems stick.txt --json /no/such/folder/a.json
refused '/no/such/folder/a.svg: No such file' problems stick.txt --json a.json --svg /no/such/folder/a.svg
refused 'nowhere.txt: No such file' problems nowhere.txt --json a.json

# What follows -- is a file, and a name of any bytes leaves the JSON valid.
cp stick.txt ./--odd.txt
name=$(printf 'a"\377.txt')
cp stick.txt "$name"
"$tool" problems --json odd.json -- --odd.txt "$name" >out || fail "--: $(cat out)"
python3 -c 'import json; json.load(open("odd.json"))' || fail "odd.json: $(cat odd.json)"
rm -f ./--odd.txt "$name"

# Table, JSON, profile.
"$tool" problems --dir . --json problems.json --svg profile.svg >out || fail "problems: $(cat out)"
grep -q '^auto: 2 of 2 files to 1e-08' out || fail "problems: $(cat out)"
grep -q '^<svg ' profile.svg && grep -q '</svg>' profile.svg || fail 'no profile'
"$tool" scenes rod --json scenes.json >out || fail "scenes: $(cat out)"
grep -q '^| rod  | 1 | [0-9.e-]* ms, [0-9.e+-]* |' out || fail "scenes: $(cat out)"
for file in problems scenes; do
    python3 - $file.json <<'END' || fail "$file.json: $(cat $file.json)"
import json, sys
results = json.load(open(sys.argv[1]))["results"]
methods = {r["method"]: r for r in results}
best = methods.get("auto") or methods["Sprag"]
assert best["residual"] <= 1e-8 and (best.get("seconds") or best["milliseconds"]) > 0
assert len(methods) >= 4
END
done
# A model has what the scene has.
"$tool" mjcf stack count=3 ratio=2 >stack.xml || fail 'mjcf'
python3 - stack.xml <<'END' || fail "mjcf: $(cat stack.xml)"
import sys, xml.etree.ElementTree as tree
model = tree.parse(sys.argv[1])
assert [float(i.get("mass")) for i in model.iter("inertial")] == [1, 2, 4]
assert [g.get("type") for g in model.iter("geom")] == ["plane", "box", "box", "box"]
assert all(g.get("friction").split()[0] == "0.5" for g in model.iter("geom"))
state = model.find("keyframe/key")
assert len(state.get("qpos").split()) == 21 and len(state.get("qvel").split()) == 18
END
"$tool" --help | grep -q scaling || fail '--help'
lost --help
lost --version
lost variants
finish
