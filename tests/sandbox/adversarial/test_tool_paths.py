"""Tools stay in the workspace and do not wait, whatever an agent puts in their way."""

from collections import Counter

import pytest

from codeenv.errors import PathError
from codeenv.sandbox.base import SearchQuery
from codeenv.tree import Delta, Entry
from tests.sandbox.adversarial.conftest import attack, hold, is_alive, python
from tests.sandbox.conftest import WORKSPACE

SWAP = """
while True:
    libc.renameat2(-100, b"dir", -100, b"trap", 2)
"""
"""Exchange two names without a moment in which either is missing."""
LURE = """
os.mkdir("dir")
open("dir/passwd", "w").write("mine\\n")
os.makedirs("/home/agent/out")
os.symlink("TRAP", "trap")
answers["ready"] = True
"""
SPECIAL = """
os.mkfifo("pipe")
socket.socket(socket.AF_UNIX).bind("socket")
for path, target in {
    "memory": "/proc/self/mem", "zero": "/dev/zero", "standard": "/dev/stdin", "chain": "far",
    "terminal": "/dev/tty", "descriptor": "/proc/self/fd/0", "server": "/proc/1/environ",
    "root": "/proc/1/root/etc/passwd", "own root": "/proc/self/root/etc/passwd", "loop": "loop",
    "far": "../" * 40 + "etc/passwd", "stream": "/proc/self/fd/4", "maps": "/proc/self/maps",
    "kmsg": "/proc/kmsg", "random": "/dev/random",
}.items():
    os.symlink(target, path)
os.mkdir("folder")
os.symlink("/etc", "folder/etc")
"""
LINKS = ("memory", "zero", "standard", "terminal", "descriptor", "server", "root", "own root",
         "far", "stream", "maps", "chain", "kmsg", "random")  # fmt: skip
GITS = {
    "a pipe": "mkfifo .git",
    "a link to a folder of the base": "ln -s /etc .git",
    "a link to itself": "ln -s .git .git",
    "a link to nothing": "ln -s /nothing .git",
    "a file that points away": "echo 'gitdir: /proc/self/cwd/x' > .git",
    "a file that points to itself": "echo 'gitdir: .git' > .git",
    "a device": "ln -s /dev/zero .git",
    "with another work tree": "git init -q .; git config core.worktree /etc",
    "with programs to run": (
        "git init -q .; for name in core.fsmonitor core.pager core.sshCommand core.editor "
        "diff.external filter.x.clean; do git config $name 'touch /workspace/ran;'; "
        "git config --global $name 'touch /workspace/ran;'; done; "
        "echo '* filter=x' > .gitattributes; echo 'touch ran' > .git/hooks/post-index-change; "
        "chmod +x .git/hooks/*"
    ),
    "with broken parts": "git init -q .; head -c 4096 /dev/urandom > .git/index; rm .git/HEAD",
}
WAITING = {
    "ignore file": "mkfifo .gitignore",
    "index": "mkfifo .git/index",
    "configuration": "rm .git/config; mkfifo .git/config",
    "exclusions": "rm -f .git/info/exclude; mkfifo .git/info/exclude",
}
NAMES = (
    "new\nline", "caf\udce9", "-rf", " ", "a\\b", "\x1b[31mred", "\u202etxt", "x" * 255, "\x01",
    "'", '"', "*", "?", "[a]", "{a,b}", "~", "#", "%s%n", "$(touch ran)", "`touch ran`",
)  # fmt: skip
PATHS = {
    "x/" * 4000 + "f": "not_found",
    "x/" * 1500 + "f": "not_found",
    "../" * 4000 + "etc/passwd": "outside",
    "/" * 9000 + "etc/passwd": "outside",
    "src/" + "../src/" * 700 + "../../etc/passwd": "outside",
    "x" * 4095: "not_found",
    "x" * 256: "not_found",
}


def _outcomes(times, call):
    """Call often; count answers and the codes of refusals."""
    seen = Counter()
    for n in range(times):
        try:
            answer = call(n)
        except PathError as error:
            seen["refused " + error.code] += 1
        else:
            seen[answer] += 1
    return {what for what in seen if not str(what).startswith("refused ")}


def _raced(box, trap):
    assert hold(box, LURE.replace("TRAP", trap), SWAP) == {"ready": True}
    return box


def test_reading_through_a_path_that_changes_gives_no_file_from_outside(walled_box):
    box = _raced(walled_box, "/etc")

    assert _outcomes(500, lambda n: box.read_file("dir/passwd")) <= {b"mine\n"}


def test_listing_a_path_that_changes_gives_no_file_from_outside(walled_box):
    box = _raced(walled_box, "/etc")

    assert _outcomes(300, lambda n: box.list_files("dir/passwd")[0].size) <= {5}
    assert _outcomes(300, lambda n: tuple(each.path for each in box.list_files("dir"))) <= {
        ("dir/passwd",),
        (),
    }


def test_searching_a_path_that_changes_gives_no_file_from_outside(walled_box):
    box = _raced(walled_box, "/etc")
    query, folder = SearchQuery("root|mine", path="dir/passwd"), SearchQuery("root:x", path="dir")

    def found(query):
        return tuple(match.text for match in box.search(query).matches)

    assert _outcomes(150, lambda n: found(query)) <= {("mine",), ()}
    assert _outcomes(100, lambda n: found(folder)) <= {()}


def test_writing_through_a_path_that_changes_puts_nothing_outside(walled_box):
    box = _raced(walled_box, "/home/agent/out")
    _outcomes(300, lambda n: box.write_file(f"dir/new{n}", b"x"))

    assert python(box, "import os; print(os.listdir('/home/agent/out'))").text == "[]\n"


def test_applying_through_a_path_that_changes_puts_nothing_outside(walled_box):
    box = _raced(walled_box, "/home/agent/out")
    _outcomes(200, lambda n: box.apply(Delta({f"dir/new{n}": Entry(b"x")}, frozenset())))

    assert python(box, "import os; print(os.listdir('/home/agent/out'))").text == "[]\n"


def test_exporting_a_path_that_changes_gives_no_file_from_outside(walled_box):
    box = _raced(walled_box, "/etc")
    for _ in range(20):
        tree = box.export()
        (real,) = {"dir", "trap"} & {path.partition("/")[0] for path in tree if "/" in path}
        assert tree[f"{real}/passwd"] == Entry(b"mine\n")
        assert set(tree) == {*WORKSPACE, f"{real}/passwd", *({"dir", "trap"} - {real})}


def test_applying_goes_through_no_planted_link(walled_box):
    walled_box.exec(
        "mkdir ~/out; rm -r src data; ln -s ~/out src; ln -s /etc data; echo x > ~/out/k"
    )
    delta = Delta(
        {"src/toy.py": Entry(b"new\n"), "data/deep/new": Entry(b"2")}, frozenset({"src/k"})
    )
    walled_box.apply(delta)

    assert walled_box.exec("ls ~/out").text == "k\n"
    exported = walled_box.export()
    assert exported["src/toy.py"] == Entry(b"new\n")
    assert exported["data/deep/new"] == Entry(b"2")


def test_an_index_entry_beyond_a_link_is_not_searched(walled_box):
    walled_box.exec(
        "git init -q . && ln -s /etc trap && x=$(echo x | git hash-object -w --stdin) && "
        "git update-index --add --cacheinfo 100644,$x,trap/passwd"
    )

    assert walled_box.search(SearchQuery("root:x")).total == 0


def test_links_out_of_the_workspace_are_refused_by_every_tool(walled_box):
    attack(walled_box, SPECIAL)
    for path in (*LINKS, "folder/etc/passwd", "folder/etc"):
        for call in (
            walled_box.read_file, walled_box.list_files, lambda p: walled_box.write_file(p, b"x"),
            lambda p: walled_box.search(SearchQuery("x", path=p, timeout=1)),
        ):  # fmt: skip
            with pytest.raises(PathError) as caught:
                call(path)
            assert caught.value.code == "outside", path
    with pytest.raises(PathError):
        walled_box.read_file("loop")


def test_files_that_would_make_a_reader_wait_do_not(walled_box):
    attack(walled_box, SPECIAL)
    for path in ("pipe", "socket"):
        with pytest.raises(PathError) as caught:
            walled_box.read_file(path)
        assert caught.value.code == "denied"
        assert walled_box.list_files(path)[0].kind == "other"
        assert walled_box.search(SearchQuery("x", path=path, timeout=1)).total == 0
    assert walled_box.search(SearchQuery("answer", timeout=2)).total == 1
    walled_box.write_file("pipe", b"a file now")
    assert walled_box.read_file("pipe") == b"a file now"


@pytest.mark.parametrize("git", GITS.values(), ids=GITS)
def test_a_search_survives_a_git_folder_that_is(walled_box, git):
    walled_box.exec(git)
    found = walled_box.search(SearchQuery("root:x:0|answer", timeout=5))

    assert set(found.counts) <= {"src/toy.py"}
    assert walled_box.exec("ls ran").exit_code != 0
    assert set(WORKSPACE) <= set(walled_box.export())


@pytest.mark.parametrize("pipe", WAITING.values(), ids=WAITING)
def test_a_search_that_a_pipe_would_stop_ends_in_time(walled_box, pipe):
    walled_box.exec(f"git init -q .; {pipe}")
    query = SearchQuery("answer", timeout=0.3)

    assert _outcomes(1, lambda n: walled_box.search(query).total) <= {1}
    assert is_alive(walled_box)


def test_odd_names_are_names_and_nothing_else(walled_box):
    for name in NAMES:
        walled_box.write_file(name, b"odd")
        assert walled_box.read_file(name) == b"odd"

    assert {each.path for each in walled_box.list_files(depth=1)} >= set(NAMES)
    assert set(walled_box.search(SearchQuery("odd")).counts) == set(NAMES)
    assert set(walled_box.export()) == {*WORKSPACE, *NAMES}


@pytest.mark.parametrize(("path", "code"), PATHS.items(), ids=range(len(PATHS)))
def test_a_path_of_any_length_is_answered_by_every_tool(walled_box, path, code):
    for call in (
        walled_box.read_file, walled_box.list_files,
        lambda p: walled_box.search(SearchQuery("x", path=p, timeout=1)),
    ):  # fmt: skip
        with pytest.raises(PathError) as caught:
            call(path)
        assert caught.value.code == code
    assert _outcomes(1, lambda n: walled_box.write_file(path, b"x")) <= {None}
    assert is_alive(walled_box)


def test_the_workspace_itself_cannot_be_moved_away(walled_box):
    script = "cd /; mv /workspace /tmp/w; rmdir /workspace; ln -sfn /etc /workspace; echo $?"
    walled_box.exec(script)

    assert walled_box.exec("stat -c %F /workspace").text == "directory\n"
    walled_box.write_file("new", b"1")
    assert walled_box.read_file("new") == b"1"
