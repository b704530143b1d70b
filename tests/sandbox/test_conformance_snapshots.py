"""What every backend promises about snapshots and forks of a live box."""

import pickle
import threading

import pytest

from codeenv.errors import PathError, SandboxError, UsageError
from codeenv.tree import Entry, Tree
from tests.sandbox.conftest import WORKSPACE

CHANGE = r"""
set -e
rm README.md; echo new > src/toy.py; chmod 600 src/toy.py; mkdir -p deep/er empty .git/refs
echo x > deep/er/file; ln -s ../src/toy.py deep/link; touch -d @1234567890 deep/er/file
rm -r data; mkdir data; echo other > data/other.txt
ln src/toy.py twice; rm bin/run; mkdir bin/run; echo y > bin/run/inner; rm link; echo plain > link
echo ref > .git/refs/head; mkdir ~/.cache; echo mine > ~/.cache/mine; echo t > /tmp/t
mkdir -m 500 closed; mkfifo pipe; touch -d @1000000000 deep
"""
LOOK = r"""
find . ~ "${TMPDIR:-/tmp}" ! -path '*codeenv*' ! -type p -printf '%P %y %m %l %s\n' | sort
find deep closed src/toy.py -printf '%p %T@\n' | sort
cat src/toy.py deep/er/file data/other.txt bin/run/inner link twice .git/refs/head
"""


def _look(box):
    result = box.exec(LOOK)
    assert result.exit_code == 0
    return [line for line in result.text.splitlines() if not line.startswith(" d ")]


@pytest.fixture
def changed(world):
    box = world.open()
    assert box.exec(CHANGE).exit_code == 0
    return box


def _fork(world, box):
    other = box.fork()
    world.opened.append(other)
    return other


def test_a_fork_has_every_file_as_it_was(world, changed):
    other = _fork(world, changed)

    assert _look(other) == _look(changed)
    assert other.export() == changed.export()
    assert "README.md" not in other.export()
    assert set(other.exec("ls -A data").text.split()) == {"other.txt"}


def test_a_fork_and_its_origin_are_independent(world, changed):
    other = _fork(world, changed)
    other.write_file("src/toy.py", b"in the fork\n")
    changed.write_file("only-here", b"")

    assert other.host is not changed.host
    assert changed.read_file("src/toy.py") == b"new\n"
    with pytest.raises(PathError):
        other.read_file("only-here")


def test_a_fork_of_a_fork_has_the_changes_of_both(world, changed):
    other = _fork(world, changed)
    other.exec("rm -r data; echo more > more")
    third = _fork(world, other)

    assert third.read_file("more") == b"more\n"
    assert third.export() == other.export()
    assert not any(path.startswith("data/") for path in third.export())


def test_a_snapshot_begins_any_number_of_boxes_later(world, changed):
    snapshot = pickle.loads(pickle.dumps(changed.snapshot()))
    changed.exec("echo later > src/toy.py")
    changed.close()

    for _ in range(2):
        box = world.open()
        box.restore(snapshot)
        assert box.read_file("src/toy.py") == b"new\n"


def test_a_snapshot_of_an_untouched_box_changes_nothing(world):
    box = _fork(world, world.open())

    assert box.export() == WORKSPACE


def test_a_snapshot_fits_boxes_of_the_same_workspace_only(world, changed):
    other = world.open(Tree({"other": Entry(b"")}))

    with pytest.raises(UsageError, match="another workspace"):
        other.restore(changed.snapshot())


def test_processes_go_on_after_a_snapshot_and_are_not_in_the_fork(world):
    box = world.open()
    box.exec("(while :; do echo tick >> ticks; done) > /dev/null 2>&1 &")
    other = _fork(world, box)
    before = len(other.exec("cat ticks").output)
    result = box.exec(
        f"while test $(stat -c %s ticks) -le {before}; do :; done; echo on", timeout=20
    )

    assert result.text == "on\n"
    assert len(other.exec("cat ticks").output) == before
    box.exec("pkill -f tick || kill %1")


def test_the_full_log_of_an_earlier_command_stays(walled):
    box = walled.open()
    log = box.exec("seq 100000", output_limit=1000).log_path
    other = _fork(walled, box)
    other.exec("seq 200000", output_limit=1000)

    assert other.read_file(log).endswith(b"\n100000\n")


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        ("for n in $(seq 210); do mkdir d && cd d; done", "deeper than"),
        (
            "d=$(printf 'x%.0s' {1..250}); for n in $(seq 15); do mkdir $d && cd $d; done",
            "paths of",
        ),
    ],
)
def test_files_beyond_the_limits_have_no_snapshot(walled_box, make, problem):
    assert walled_box.exec(make).exit_code == 0

    with pytest.raises(PathError, match=problem):
        walled_box.snapshot()
    assert walled_box.exec("echo alive").text == "alive\n"


def test_a_box_that_is_closed_has_no_snapshot(world):
    box = world.open()
    box.close()

    with pytest.raises(SandboxError):
        box.snapshot()


def test_many_forks_of_one_box_can_be_made_at_once(world, changed):
    snapshot, found = changed.snapshot(), []

    def branch(n):
        box = world.open()
        box.restore(snapshot)
        box.write_file("n", str(n).encode())
        found.append(int(box.read_file("n")))

    threads = [threading.Thread(target=branch, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(found) == list(range(6))
