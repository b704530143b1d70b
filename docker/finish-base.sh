#!/bin/sh
# Turns a root file system that has Python, git and the usual tools into a codeenv base.
# Runs inside it, as root: from bootstrap-debian.sh and from base.Dockerfile.
set -eu
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1

# The user that agents and tests run as, and the folders that boxes mount over.
grep -q '^agent:' /etc/group || echo 'agent:x:1000:' >> /etc/group
grep -q '^agent:' /etc/passwd || echo 'agent:x:1000:1000::/home/agent:/bin/bash' >> /etc/passwd
mkdir -p /home/agent /workspace /opt/env /opt/tools /build
chown 1000:1000 /home/agent /workspace /build

# git must not ask whose folder it works in, nor read anyone's own settings.
printf '[safe]\n\tdirectory = *\n[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n' > /etc/gitconfig

# Environments are made with /usr/bin/python3, wherever this base has its Python.
[ -e /usr/bin/python3 ] || ln -s "$(command -v python3)" /usr/bin/python3

# No installer, and no copy of one: it would carry the sources of dozens of projects.
python3 - <<'PY'
import pathlib, shutil, sysconfig
stdlib = pathlib.Path(sysconfig.get_path("stdlib"))
shutil.rmtree(stdlib / "ensurepip", ignore_errors=True)
names = ("pip", "setuptools", "wheel", "pkg_resources", "_distutils_hack", "distutils-precedence.pth")
for folder in (stdlib / "site-packages", pathlib.Path(sysconfig.get_path("purelib")),
               stdlib.parent / "python3" / "dist-packages"):
    for name in names:
        for found in (*folder.glob(name), *folder.glob(f"{name}-*.dist-info")):
            shutil.rmtree(found) if found.is_dir() else found.unlink()
PY
rm -f /usr/bin/pip* /usr/local/bin/pip* /usr/local/bin/wheel /usr/local/bin/idle* /usr/local/bin/pydoc*
rm -rf /usr/share/python-wheels

# Nothing that grows, differs between builds, or only people read.
rm -rf /usr/share/doc /usr/share/man /usr/share/info /usr/share/locale /usr/share/lintian \
  /usr/share/bug /var/cache/* /var/lib/apt/lists/* /var/log/* /var/tmp/* /tmp/* /root/.cache
rm -f /etc/machine-id /var/lib/dbus/machine-id /etc/ssh/ssh_host_* \
  /var/lib/dpkg/*-old /etc/passwd- /etc/group- /etc/shadow- /etc/gshadow-
# (A Docker build mounts these two, so they cannot be replaced there.)
for file in /etc/resolv.conf /etc/hostname; do
  rm -f "$file" 2> /dev/null || true
  [ -e "$file" ] || touch "$file"
  chmod 644 "$file" 2> /dev/null || true
done

# Bytecode that does not depend on times, so that no box ever has to write any.
find / -xdev -name __pycache__ -type d -prune -exec rm -rf {} +
python3 -m compileall -q --invalidation-mode unchecked-hash \
  "$(python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')" > /dev/null 2>&1 || true

# No program that changes its user; everything readable for whoever a box runs as.
find / -xdev \( -perm -4000 -o -perm -2000 \) -type f -exec chmod ug-s {} +
chmod -R a+rX /etc /usr /opt /root /home /var 2> /dev/null || true
