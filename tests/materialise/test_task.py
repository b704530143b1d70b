import pytest

from codeenv.errors import TaskError
from codeenv.languages.python.language import PythonLanguage
from codeenv.materialise.cache import load_task, store_task
from codeenv.materialise.common import is_telling
from codeenv.materialise.git import git_folder, without_git
from codeenv.materialise.secrets import secret_hash, secret_hashes, vanished_names
from codeenv.materialise.task import assemble
from codeenv.tree import Entry, Tree
from tests.toytask import LOCK, SOURCE, make_task, parts

TEXT = "src/notes/text.py"
TESTS = "tests/test_text.py"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CODEENV_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("mode", ["remove", "stub"])
def test_the_oracle_gives_the_original_code_back(mode):
    task = make_task(mode=mode)
    restored = without_git(task.workspace).apply(task.oracle)
    for path in task.layout.source_files:
        assert restored[path] == SOURCE[path]


def test_the_feature_and_its_tests_are_gone_and_nothing_else():
    task = make_task()
    assert b"surviving_pieces" not in task.workspace[TEXT].data
    assert b"def wrap" in task.workspace[TEXT].data
    assert b"test_slug" not in task.workspace[TESTS].data
    assert b"test_wrap_keeps_long_words" in task.workspace[TESTS].data
    assert task.workspace["README.md"] == SOURCE["README.md"]


def test_the_grading_tree_has_the_damaged_code_and_the_pristine_tests():
    task = make_task()
    assert task.grading_tree[TEXT] == task.workspace[TEXT]
    assert task.grading_tree[TESTS] == SOURCE[TESTS]
    assert not any(path.startswith(".git/") for path in task.grading_tree)


def test_the_workspace_is_the_pinned_tree_and_a_fresh_repository():
    task = make_task()
    files = without_git(task.workspace)
    assert files.digest == task.recipe.damaged_tree
    assert dict(task.workspace) == {**files, **git_folder(files)}


def test_by_products_in_the_source_reach_neither_agent_nor_grader():
    extra = {"__pycache__/text.pyc": Entry(b"\0"), "build/lib/notes/text.py": SOURCE[TEXT]}
    task = make_task(Tree({**SOURCE, **extra}))
    assert not set(extra) & {*task.workspace, *task.grading_tree, *task.layout.source_files}


def test_at_level_5_the_tests_stay_visible():
    task = make_task(level="L5")
    assert task.workspace[TESTS] == SOURCE[TESTS]


def test_another_source_is_refused_with_both_digests():
    recipe, baseline = parts()
    other = Tree({**SOURCE, "README.md": Entry(b"other")})
    with pytest.raises(TaskError) as caught:
        assemble(recipe, baseline, LOCK, other, PythonLanguage())
    assert SOURCE.digest in caught.value.message
    assert other.digest in caught.value.message


def test_another_damaged_tree_is_refused():
    recipe, baseline = parts(damaged_tree="e" * 64)
    with pytest.raises(TaskError, match="damaged tree is not the recipe's"):
        assemble(recipe, baseline, LOCK, SOURCE, PythonLanguage())


def test_another_baseline_or_environment_is_refused():
    recipe, baseline = parts()
    with pytest.raises(TaskError, match="baseline is not the recipe's"):
        assemble(recipe, baseline.model_copy(update={"runs": 9}), LOCK, SOURCE, PythonLanguage())
    lock = LOCK.model_copy(update={"python": "3.12.0"})
    with pytest.raises(TaskError, match="environment is not the recipe's"):
        assemble(recipe, baseline, lock, SOURCE, PythonLanguage())


def test_a_kept_task_is_the_same_task():
    task = make_task()
    assert load_task(task.recipe, task.baseline, task.lock) is None
    store_task(task)
    assert load_task(task.recipe, task.baseline, task.lock) == task


def test_a_damaged_cache_is_not_used(tmp_path):
    task = make_task()
    store_task(task)
    archive = next((tmp_path / "cache/tasks").glob("*.tar"))
    archive.write_bytes(archive.read_bytes().replace(b"def wrap", b"def warp"))
    assert load_task(task.recipe, task.baseline, task.lock) is None


def test_a_half_written_cache_is_not_used(tmp_path):
    task = make_task()
    store_task(task)
    next((tmp_path / "cache/tasks").glob("*.json")).write_text("{")
    assert load_task(task.recipe, task.baseline, task.lock) is None


def test_vanished_names_are_those_only_the_feature_used():
    task = make_task()
    names = vanished_names(SOURCE, without_git(task.workspace), PythonLanguage())
    assert {"slug", "joiner", "surviving_pieces"} <= names
    assert not names & {"wrap", "text", "lines", "SEPARATOR"}


def test_secret_hashes_are_salted_sorted_and_spare_what_is_told():
    damaged = without_git(make_task().workspace)
    hashes = secret_hashes(SOURCE, damaged, PythonLanguage())
    assert secret_hash("surviving_pieces", damaged.digest) in hashes
    assert secret_hash("surviving_pieces", "other") not in hashes
    assert list(hashes) == sorted(hashes)
    assert len(hashes) <= 40
    told = secret_hashes(SOURCE, damaged, PythonLanguage(), instruction="`surviving_pieces`")
    assert secret_hash("surviving_pieces", damaged.digest) not in told


def test_the_bytes_of_a_task_do_not_depend_on_the_run():
    assert make_task().workspace.digest == make_task().workspace.digest
    assert make_task().instruction == make_task().instruction


@pytest.mark.parametrize("name", ["insert", "ValueError", "__init__", "slug", "isinstance"])
def test_common_and_short_names_are_no_secrets(name):
    assert not is_telling(name)


def test_a_projects_own_name_is_telling():
    assert is_telling("surviving_pieces")


def test_the_oracle_gives_type_stubs_back_too():
    stub = Entry(b"def slug(text: str, *, joiner: str = ...) -> str: ...\ndef wrap() -> int: ...\n")
    source = Tree({**SOURCE, "src/notes/text.pyi": stub})
    task = make_task(source)
    assert b"slug" not in task.workspace["src/notes/text.pyi"].data
    assert without_git(task.workspace).apply(task.oracle)["src/notes/text.pyi"] == stub
