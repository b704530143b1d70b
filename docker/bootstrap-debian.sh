#!/bin/sh
# Makes the root file system of the `debian` base, as a tar, from Debian's packages.
# usage: bootstrap-debian.sh SUITE TARGET.tar [PACKAGE,...] [MIRROR]
# Works as root and, where user namespaces are allowed, as any other user.
set -eu
suite=$1 target=$2 more=${3-} mirror=${4-}
here=$(cd "$(dirname "$0")" && pwd)
packages=python3,git,bash,coreutils,findutils,grep,sed,diffutils,patch,procps,less,make,ca-certificates,tzdata,libstdc++6${more:+,$more}

# Everything that is newer than this moment gets this time: same packages, same bytes.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-1735689600}

# Packages that Debian does not have are told by name, before the rest is unpacked.
look_up='missing=0
for name in $MORE; do
  env APT_CONFIG="$MMDEBSTRAP_APT_CONFIG" apt-get install -qq --simulate \
    -o APT::Cmd::Pattern-Only=true "$name" > /dev/null 2>&1 ||
    { echo "E: Unable to locate package $name" >&2; missing=1; }
done
exit $missing'
MORE=$(echo "$more" | tr , ' ')
export MORE

exec mmdebstrap --quiet --variant=essential --format=tar --include="$packages" \
  --aptopt='APT::Install-Recommends "false"' \
  --dpkgopt='path-exclude=/usr/share/man/*' \
  --dpkgopt='path-exclude=/usr/share/info/*' \
  --dpkgopt='path-exclude=/usr/share/doc/*' \
  --dpkgopt='path-exclude=/usr/share/locale/*' \
  --extract-hook="$look_up" \
  --customize-hook="copy-in '$here/finish-base.sh' /tmp" \
  --customize-hook='chroot "$1" sh /tmp/finish-base.sh' \
  "$suite" "$target" ${mirror:+"$mirror"}
