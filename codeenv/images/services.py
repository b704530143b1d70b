"""Servers that tests need: what brings them, and how each box starts its own.

A server runs in the box, as the user that tests and agents run as, and hears only the box itself;
it ends with the box.  What it needs comes from Debian packages of the base.
"""

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from codeenv.errors import BuildError
from codeenv.images.causes import LONGEST
from codeenv.languages.base import TestRun

_POSTGRESQL = """\
data=/var/tmp/postgresql
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
"$bin/initdb" -D $data -U postgres -A trust -E UTF8 --no-sync > /dev/null
"$bin/pg_ctl" -D $data -w -t 60 -l $data/log \\
  -o '-c listen_addresses=127.0.0.1 -c fsync=off -c unix_socket_directories=/tmp' start > /dev/null
"""
_REDIS = """\
redis-server --daemonize yes --bind 127.0.0.1 --save '' --appendonly no --dir /var/tmp > /dev/null
for _ in $(seq 100); do redis-cli ping > /dev/null 2>&1 && break; sleep 0.05; done
redis-cli ping > /dev/null
"""
_MEMCACHED = """\
memcached -d -l 127.0.0.1 -m 64
for _ in $(seq 100); do (exec 4<> /dev/tcp/127.0.0.1/11211) 2> /dev/null && break; sleep 0.05; done
(exec 4<> /dev/tcp/127.0.0.1/11211)
"""


@dataclass(frozen=True)
class Server:
    """One kind of server.

    Attributes:
        packages: Debian packages that bring it.
        script: Bash that starts it and returns once it answers.
    """

    packages: tuple[str, ...]
    script: str


SERVERS = {
    "memcached": Server(("memcached",), _MEMCACHED),
    "postgresql": Server(("postgresql",), _POSTGRESQL),
    "redis": Server(("redis-server", "redis-tools"), _REDIS),
}
_SIGNS = {
    "memcached": r"(?i):11211\b|memcache.{0,80}(?:refused|unavailable|connect)",
    "postgresql": r"(?i)(?:port 5432\b|:5432\b|psycopg|asyncpg|postgres).{0,160}"
    r"(?:refused|failed|could not connect|Connect call failed)|Connect call failed.{0,40}5432",
    "redis": r"(?i)\b6379\b.{0,80}(?:refused|failed|connect)|redis.{0,80}refused"
    r"|connecting to .{0,40}6379|Connect call failed.{0,40}6379",
}
"""What tests say that miss a server."""
_SPEC = re.compile(r"(\w+)((?: (?:user|database)=\w+)*)")


def startup(services: Iterable[str]) -> str:
    """Return the script that starts servers in a box, "" for none.

    Args:
        services: ``redis``, ``memcached``, ``postgresql``; the last one may go on with
            ``user=NAME`` (a superuser) and ``database=NAME``, which are made if they are not there.

    Raises:
        BuildError: If there is no such server.
    """
    scripts = [_script(service) for service in services]
    return "".join(["set -eu\n", *scripts]) if scripts else ""


def servers_missing(run: TestRun) -> tuple[str, ...]:
    """Return the servers that tests of a run could not reach, sorted."""
    texts = [message[:LONGEST] for message in run.messages]
    found = (n for n, sign in _SIGNS.items() if any(re.search(sign, text) for text in texts))
    return tuple(sorted(found))


def packages_of_services(services: Iterable[str]) -> tuple[str, ...]:
    """Return the Debian packages that bring servers, sorted."""
    return tuple(sorted({p for s in services for p in SERVERS[s.split(" ")[0]].packages}))


def _script(service: str) -> str:
    match = _SPEC.fullmatch(service)
    if match is None or match[1] not in SERVERS:
        known = ", ".join(sorted(SERVERS))
        raise BuildError(f"there is no server {service!r}", hint=f"servers are {known}")
    options = [option.split("=") for option in match[2].split()]
    return SERVERS[match[1]].script + "".join(_prepare(kind, name) for kind, name in options)


def _prepare(kind: str, name: str) -> str:
    """Return what makes a user or a database of PostgreSQL, unless it is there."""
    known, statement = {
        "user": (
            f"SELECT 'known' FROM pg_roles WHERE rolname = '{name}'",
            f'CREATE ROLE "{name}" LOGIN SUPERUSER',
        ),
        "database": (
            f"SELECT 'known' FROM pg_database WHERE datname = '{name}'",
            f'CREATE DATABASE "{name}"',
        ),
    }[kind]
    ask = '"$bin/psql" -qtA -h 127.0.0.1 -U postgres -d postgres -c '
    return f"{ask}{shlex.quote(known)} | grep -q known || {ask}{shlex.quote(statement)}\n"
