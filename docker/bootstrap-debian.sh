#!/bin/sh
# Makes the root file system of the `debian` base, as a tar, from Debian's packages.
# usage: bootstrap-debian.sh SUITE TARGET.tar [MIRROR]
# Works as root and, where user namespaces are allowed, as any other user.
set -eu
suite=$1 target=$2 mirror=${3-}
here=$(cd "$(dirname "$0")" && pwd)
packages=python3,git,bash,coreutils,findutils,grep,sed,diffutils,patch,procps,less,make,ca-certificates,tzdata

# Everything that is newer than this moment gets this time: same packages, same bytes.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-1735689600}

exec mmdebstrap --quiet --variant=essential --format=tar --include="$packages" \
  --aptopt='APT::Install-Recommends "false"' \
  --dpkgopt='path-exclude=/usr/share/man/*' \
  --dpkgopt='path-exclude=/usr/share/info/*' \
  --dpkgopt='path-exclude=/usr/share/doc/*' \
  --dpkgopt='path-exclude=/usr/share/locale/*' \
  --customize-hook="copy-in '$here/finish-base.sh' /tmp" \
  --customize-hook='chroot "$1" sh /tmp/finish-base.sh' \
  "$suite" "$target" ${mirror:+"$mirror"}
