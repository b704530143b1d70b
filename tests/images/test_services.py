"""Servers beside tests: how they are started, and how a run shows that one is missed."""

import pytest

from codeenv.errors import BuildError
from codeenv.images.layers import compose
from codeenv.images.services import packages_of_services, servers_missing, startup
from codeenv.languages.base import TestResult, TestRun
from codeenv.tasks.digest import canonical
from codeenv.tasks.models import EnvironmentLock


def run(message):
    results = {"a": TestResult("failed", message=message)}
    return TestRun(("a",), results, True, 1)


@pytest.mark.parametrize(
    ("message", "server"),
    [
        ("redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379.", "redis"),
        ("ConnectionRefusedError: [Errno 111] Connect call failed ('127.0.0.1', 6379)", "redis"),
        ('connection to server at "127.0.0.1", port 5432 failed: refused', "postgresql"),
        ("OSError: Multiple exceptions: Connect call failed ('::1', 5432, 0, 0)", "postgresql"),
        ("pymemcache: ConnectionRefusedError to ('localhost:11211')", "memcached"),
    ],
)
def test_a_run_shows_which_server_it_missed(message, server):
    assert servers_missing(run(message)) == (server,)


@pytest.mark.parametrize("message", ["", "AssertionError: 5432", "ConnectionRefusedError: :8000"])
def test_other_failures_miss_no_server(message):
    assert servers_missing(run(message)) == ()


def test_servers_name_their_packages_and_how_they_start():
    services = ("postgresql user=app database=shop", "redis")
    assert packages_of_services(services) == ("postgresql", "redis-server", "redis-tools")
    script = startup(services)
    assert 'CREATE ROLE "app" LOGIN SUPERUSER' in script
    assert 'CREATE DATABASE "shop"' in script
    assert "redis-server --daemonize yes --bind 127.0.0.1" in script
    assert startup(()) == ""


@pytest.mark.parametrize(
    "service", ["oracle", "", "redis; reboot", "postgresql user=a;b", "postgresql port=1"]
)
def test_an_unknown_server_is_refused(service):
    with pytest.raises(BuildError, match="there is no server") as caught:
        startup([service])
    assert "postgresql" in caught.value.hint


def test_an_image_with_servers_is_another_one_and_starts_them(base):
    plain, served = compose(base, (), {}), compose(base, (), {}, ("redis",))
    assert plain.digest != served.digest
    assert (plain.startup, "redis-server" in served.startup) == ("", True)


def test_a_lock_without_servers_is_written_as_ever():
    lock = EnvironmentLock(base="b", python="3.13.5", platform="x86_64", packages=())
    assert b"services" not in canonical(lock)
    served = lock.model_copy(update={"services": ("redis",)})
    assert EnvironmentLock.model_validate_json(canonical(served)) == served
    assert EnvironmentLock.model_validate_json(canonical(lock)) == lock
