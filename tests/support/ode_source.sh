#!/usr/bin/env bash
# The source of Debian's ODE, from its mirror, checked and unpacked: DIRECTORY/ode-0.16.2.  77: it cannot be had.
#     ode_source.sh DIRECTORY
set -euo pipefail
url=http://deb.debian.org/debian/pool/main/o/ode/ode_0.16.2.orig.tar.gz
sum=b26aebdcb015e2d89720ef48e0cb2e8a3ca77915f89d853893e7cc861f810f22
tar=ode_0.16.2.orig.tar.gz
mkdir -p "$1"
cd "$1"
exec 9>lock # two tests may want it at once
flock 9
[ -d ode-0.16.2 ] && exit 0
if [ ! -e $tar ] && ! curl -fsS --max-time 120 -o $tar.part "$url"; then
    echo "skipped: no $url"
    exit 77
fi
[ -e $tar ] || mv $tar.part $tar
echo "$sum  $tar" | sha256sum -c --quiet || { rm $tar; echo "FAILED: $tar is not what Debian published"; exit 1; }
mkdir -p unpacked
tar xf $tar -C unpacked
mv unpacked/ode-0.16.2 .
