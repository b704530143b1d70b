import pytest

from codeenv.errors import BuildError
from codeenv.images.venv import add_project, clean_venv, programs_of, remove_distribution
from codeenv.languages.base import InstallPlan
from codeenv.tree import Entry, Tree
from tests.images.fakes import environment_tree

SITE = "lib/python3.13/site-packages"


def test_traces_of_one_installation_are_dropped():
    given = Tree(
        {
            **environment_tree(("thing", "1.0")),
            f"{SITE}/thing-1.0.dist-info/direct_url.json": Entry(b"{}"),
            ".codeenv-report.json": Entry(b"{}"),
            "bin/Activate.ps1": Entry(b""),
        }
    )
    cleaned = clean_venv(given)
    names = {path.rsplit("/", 1)[-1] for path in cleaned}
    assert not names & {"REQUESTED", "direct_url.json", ".codeenv-report.json", "Activate.ps1"}
    assert b"REQUESTED" not in cleaned[f"{SITE}/thing-1.0.dist-info/RECORD"].data
    assert {"bin/python", "bin/python3", "lib64"} <= set(cleaned)


@pytest.mark.parametrize(
    ("path", "target"),
    [
        (f"{SITE}/thing/secrets", "/etc/shadow"),
        (f"{SITE}/thing/up", "../../../../../../etc"),
        ("bin/tool", "/bin/sh"),
        ("bin/python3", "/home/someone/python3"),
    ],
)
def test_links_that_build_code_left_are_dropped(path, target):
    given = Tree({**environment_tree(("thing", "1.0")), path: Entry(target.encode(), "link")})
    assert path not in clean_venv(given)


def test_a_distribution_is_removed_with_all_it_listed_and_its_bytecode():
    both = environment_tree(("thing", "1.0"), ("other", "2.0"))
    left = remove_distribution(both, "thing")
    assert not [
        path for path in left if "thing" in path and "METADATA" not in path and "REQ" not in path
    ]
    assert {p for p in both if "other" in p} <= set(left)


def test_the_project_is_known_but_not_installed():
    plan = InstallPlan("My.Lib", "1.2", "", (), {"METADATA": b"Name: My.Lib\n"})
    made = add_project(environment_tree(("thing", "1.0")), plan, (".", "src"))
    assert made[f"{SITE}/My_Lib-1.2.dist-info/METADATA"].data == b"Name: My.Lib\n"
    assert made[f"{SITE}/_codeenv_project.pth"].data == b"/workspace\n/workspace/src\n"


def test_the_project_s_commands_are_there_and_run_the_workspace():
    metadata = {
        "METADATA": b"Name: thing\n",
        "entry_points.txt": b"[console_scripts]\nthing = thing.cli:App.main [extra]\n"
        b"../../evil = os:system\nbad = not a target\n[other]\nplug = thing:plug\n",
    }
    plan = InstallPlan("thing", "1.0", "", (), metadata)
    tree = add_project(environment_tree(("pytest", "9.0")), plan, ["."])
    assert tree["bin/thing"].mode == "exec"
    text = tree["bin/thing"].data.decode()
    assert text.startswith("#!/opt/env/bin/python\n")
    assert "from thing.cli import App\n" in text
    assert "sys.exit(App.main())" in text
    compile(text, "thing", "exec")
    assert not any("evil" in path or path in ("bin/bad", "bin/plug") for path in tree)


def test_entry_points_that_cannot_be_read_are_none():
    assert programs_of({"entry_points.txt": b"no section here"}) == {}
    assert programs_of({}) == {}


def test_an_environment_with_nothing_in_it_is_an_error():
    with pytest.raises(BuildError, match="no site-packages"):
        add_project(Tree({"pyvenv.cfg": Entry(b"")}), InstallPlan("", "0", "", ()), ())
