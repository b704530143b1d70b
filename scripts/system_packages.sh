#!/bin/sh
# Install Debian packages whose command is missing: system_packages.sh COMMAND:PACKAGE ...
# With --need PACKAGE, a failure ends with exit code 2; without it, it is a warning: what is missing
# may not be needed, and the command that needs it says so.
set -eu

need=no
missing=""
for word in "$@"; do
  case "$word" in
    --need) need=yes ;;
    *:*) PATH="$PATH:/usr/sbin:/sbin" command -v "${word%%:*}" >/dev/null || missing="$missing ${word#*:}" ;;
    *) missing="$missing $word" ;;
  esac
done
[ -n "$missing" ] || exit 0

give_up() {
  if [ "$need" = yes ]; then level=error; else level=warning; fi
  echo "$level: $1:$missing" >&2
  echo "hint: apt-get update && apt-get install --no-install-recommends$missing   (as root)" >&2
  [ "$need" = no ] || exit 2
  exit 0
}

command -v apt-get >/dev/null || give_up "this is no Debian system; install what gives"
[ "$(id -u)" = 0 ] || give_up "only root can install"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "installing system packages:$missing" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update >"$log" 2>&1 || true
# docker-cli is a package of its own only where docker.io does not bring the command.
known=""
for package in $missing; do
  if apt-cache show "$package" >/dev/null 2>&1; then known="$known $package"; fi
done
# shellcheck disable=SC2086
if [ -z "$known" ] || ! apt-get -qq install -y --no-install-recommends $known >>"$log" 2>&1; then
  tail -n 5 "$log" >&2
  give_up "could not install"
fi
