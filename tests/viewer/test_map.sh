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
finish
