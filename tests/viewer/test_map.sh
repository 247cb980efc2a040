#!/usr/bin/env bash
# sprag-map as its users meet it: bad input, one picture whose colours are known.      test_map.sh SPRAG_MAP
. "$(dirname "$0")/../support/tool.sh" "$1"
refused 'which scene'
refused 'no scene "rood"' rood
refused 'no key "colour"' rod --x colour=0:1
refused 'expected KEY=FROM:TO' rod --x mu=1
refused 'FROM < TO' rod --x mu=2:1
refused 'expected KEY=VALUE' rod --set mu=1:2
refused 'needs an argument' rod --x
refused 'unknown option' rod --colour red
refused '50 to 4000' rod --size 1x1
refused 'are needed' rod --x mu=0:3

refused 'both mu' rod --x mu=0:3 --y mu=0:1 --png p.png
refused 'expected KEY=FROM:TO' rod --x mu=0:0x3 --y angle=10:20 --png p.png
refused 'mu must be from 0 to 1000' rod --x mu=-1:3 --y angle=10:20 --png p.png
refused 'angle must be from 0 to 180 deg' rod --x mu=0:3 --y angle=100:400 --png p.png
refused 'length is no coefficient of friction' rod --x length=1:2 --y angle=10:20 --png p.png
refused 'contacts, expected 1 to 3' stack --x mu=0:3 --y size=0.1:0.2 --png p.png
refused '/nonexistent/p.png: No such file' rod --x mu=0:3 --y angle=10:20 --png /nonexistent/p.png

"$tool" rod --x mu=0:4 --y angle=1:179 --size 80x60 --png rod.png || fail 'rod'
[ "$(head -c 8 rod.png | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] || fail 'rod.png is no PNG'

# The fold leaves the picture twice, at 161 and at 95 degrees, where it is nearly level: the line goes on to the edge.
# Between them there is no solution, and no line.
cat >edge.py <<'END'
import struct, sys, zlib
data, at, packed = open("rod.png", "rb").read(), 8, b""
while at < len(data):
    size, kind = struct.unpack(">I4s", data[at:at + 8])
    body = data[at + 8:at + 8 + size]
    if kind == b"IHDR":
        width, height, depth, color = struct.unpack(">IIBB", body[:10])
    packed += body if kind == b"IDAT" else b""
    at += size + 12
assert (depth, color) == (8, 2), "expected 8 bits of red, green and blue"
raw, stride, above, rows = zlib.decompress(packed), 3 * width, bytes(3 * width), []
for y in range(height):
    method, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
    for i in range(stride):
        a, b, c = line[i - 3] if i > 2 else 0, above[i], above[i - 3] if i > 2 else 0
        nearest = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
        line[i] = (line[i] + (0, a, b, (a + b) // 2, nearest)[method]) % 256
    rows.append(line)
    above = line
last = [tuple(rows[60 + y][3 * (80 + 79):3 * (80 + 80)]) for y in range(60)]
black = [y for y, dot in enumerate(last) if max(dot) < 40]
red = [y for y, dot in enumerate(last) if dot == (178, 24, 43)]
angle = [179 - 178 * (y + 0.5) / 60 for y in black]
assert any(abs(a - 161) < 3 for a in angle) and any(abs(a - 95) < 3 for a in angle), "the fold at the edge: %s" % angle
assert red and black[0] <= min(red) and max(red) <= black[-1], "no solutions between"
END
if command -v python3 >/dev/null; then
    python3 edge.py || fail 'the fold ends before the edge'
else
    echo 'skipped: the edge of the picture; python3 reads it'
fi
lost --help
lost --version
finish
