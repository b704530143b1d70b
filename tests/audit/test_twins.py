from pathlib import Path

from codeenv.audit import find_twins
from codeenv.audit.decode import View
from codeenv.audit.library import Library, library_of
from codeenv.sandbox.image import Image, Layer

BODY = """
    total = 0
    for item in items:
        if item.price > limit:
            total += item.price * item.count
        else:
            total -= item.discount(limit)
    return total
"""
LONG = BODY.replace("    return total\n", "") + BODY.replace("total = 0", "total *= 2")
SMALL = "\n    return items.copy()\n"


def code(name, body, item="item"):
    return f"def {name}(items, limit):{body}".replace("item", item)


def image(tmp_path, text=""):
    (tmp_path / "other.py").write_text(text)
    return Image("i" * 64, "base", None, (Layer("l" * 64, tmp_path, "/opt/env"),))


def test_code_that_the_environment_holds_under_other_names_is_known(tmp_path: Path):
    where = image(tmp_path, code("sum_up", BODY, item="row"))
    own = {"m.py": f"x = 1\n\n\n{code('price', BODY)}".encode()}
    assert find_twins(own, where) == {("m.py", 5)}


def test_a_short_function_that_anyone_would_write_is_not(tmp_path: Path):
    where = image(tmp_path, code("copy", SMALL))
    assert not find_twins({"m.py": code("clone", SMALL).encode()}, where)


def test_long_twins_in_the_project_know_each_other(tmp_path: Path):
    own = {"a.py": code("price", LONG).encode(), "b.py": code("cost", LONG).encode()}
    assert find_twins(own, image(tmp_path)) == {("a.py", 2), ("b.py", 2)}
    assert not find_twins({"a.py": own["a.py"]}, image(tmp_path))


def test_an_environment_too_large_to_keep_is_read_all_the_same(tmp_path: Path):
    where = image(tmp_path, code("sum_up", BODY, item="row"))
    with (tmp_path / "large.bin").open("wb") as file:
        file.truncate(15 * 1024**2)
    for number in range(7):
        (tmp_path / f"more{number}.bin").hardlink_to(tmp_path / "large.bin")
    own = {"m.py": code("price", BODY).encode()}
    assert not isinstance(library_of(where), Library)
    assert find_twins(own, where) == {("m.py", 2)}


def test_an_async_function_is_a_twin_of_the_plain_one(tmp_path: Path):
    body = LONG.replace("item.discount", "await item.discount").replace(
        "for item", "async for item"
    )
    waiting = f"async {code('cost', body)}"
    own = {"a.py": code("price", LONG).encode(), "b.py": waiting.encode()}
    assert find_twins(own, image(tmp_path)) == {("a.py", 2), ("b.py", 2)}


def test_a_library_finds_the_texts_that_have_all_words_but_a_few():
    texts = [
        b"def price_of(item): ...",
        b"def price_of_all(items): ...",
        b"item \xc3\xa4pfel price_of",
    ]
    found = Library([View(str(n), data, binary=False) for n, data in enumerate(texts)])
    names = [b"price_of", b"item"]
    assert [v.path for v in found.with_words(names)] == ["0", "2"]
    assert [v.path for v in found.with_words([*names, "äpfel".encode()], but=1)] == ["0", "2"]
    assert [v.path for v in found.with_words(names[:1], but=1)] == ["0", "1", "2"]


def test_a_library_has_no_words_of_what_is_no_text():
    found = Library([View("0", b"price_of\x00", binary=True)])
    assert not found.with_words([b"price_of"])
    assert [v.path for v in found] == ["0"]


def test_code_of_which_the_environment_holds_a_changed_copy_is_known(tmp_path: Path):
    changed = code("price", BODY).replace("    return total", "    print(total)\n    return -total")
    own = {"m.py": code("price", BODY).encode()}
    assert find_twins(own, image(tmp_path, changed)) == {("m.py", 2)}
    (tmp_path / "half").mkdir()
    assert not find_twins(own, image(tmp_path / "half", changed[:120]))
