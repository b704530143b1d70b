import pytest

from codeenv.audit import shapes

SOURCE = b"def total(rows):\n    out = 0\n    for r in rows:\n        out += r\n    return out\n"


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CODEENV_CACHE", str(tmp_path))
    shapes._remembered.cache_clear()
    yield
    shapes._remembered.cache_clear()


def test_shapes_are_found_again_by_another_process():
    before = dict(shapes.shapes_of(SOURCE))
    shapes.keep_shapes()
    shapes._remembered.cache_clear()  # as a new process starts
    assert list(shapes._remembered().values()) == [before]
    assert list(before.values()) == ["total"]


def test_a_damaged_file_of_shapes_costs_only_time():
    shapes.shapes_of(SOURCE)
    shapes.keep_shapes()
    shapes._file().write_text("{torn")
    shapes._remembered.cache_clear()
    assert list(shapes.shapes_of(SOURCE).values()) == ["total"]
