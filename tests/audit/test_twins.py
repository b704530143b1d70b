from pathlib import Path

from codeenv.audit import find_twins
from codeenv.audit.library import Library, library_of
from codeenv.audit.reach import shelves
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
    assert find_twins(own, where) == {("m.py", 2)}


def test_a_file_too_large_to_unpack_is_read_as_it_is_and_told(tmp_path: Path):
    where = image(tmp_path)
    with (tmp_path / "large.txt").open("wb") as file:
        file.seek(17 * 1024**2)
        file.write(b"\n" + code("price", BODY).encode())
    assert find_twins({"m.py": code("price", BODY).encode()}, where) == {("m.py", 2)}
    assert [(u.path, u.form) for u in library_of(where).unread] == [
        ("/opt/env/large.txt", "too large")
    ]


def test_a_twin_without_any_name_from_outside_is_known(tmp_path: Path):
    body = (
        "\n    a = b * c + d\n    a -= b / (c - d)\n    a *= d - a + b * b - c * c\n    return a\n"
    )
    other = body.translate(str.maketrans("abcd", "wxyz"))
    where = image(tmp_path, f"def low(x, y, z):{other}")
    assert find_twins({"m.py": f"def up(b, c, d):{body}".encode()}, where) == {("m.py", 2)}


def test_an_async_function_is_a_twin_of_the_plain_one(tmp_path: Path):
    body = LONG.replace("item.discount", "await item.discount").replace(
        "for item", "async for item"
    )
    waiting = f"async {code('cost', body)}"
    own = {"a.py": code("price", LONG).encode(), "b.py": waiting.encode()}
    assert find_twins(own, image(tmp_path)) == {("a.py", 2), ("b.py", 2)}


def library(folder: Path, texts: list[bytes]) -> Library:
    for number, text in enumerate(texts):
        (folder / str(number)).write_bytes(text)
    layer = Layer("l" * 64, folder, "")
    return Library(tuple(shelves(Image("i" * 64, "base", None, (layer,)))))


def paths(found: Library, words: list[bytes], but: int = 0) -> list[str]:
    """Return the paths of the files that have some words."""
    return [view.path for file in found.places(words, but=but) for view in found.read(file)]


def test_a_library_finds_the_texts_that_have_all_words_but_a_few(tmp_path: Path):
    texts = [
        b"def price_of(item): ...",
        b"def price_of_all(items): ...",
        b"item \xc3\xa4pfel price_of",
    ]
    found = library(tmp_path, texts)
    names = [b"price_of", b"item"]
    assert paths(found, names) == ["/0", "/2"]
    assert paths(found, [*names, "äpfel".encode()], but=1) == ["/0", "/2"]
    assert paths(found, [*names, b"x"]) == ["/0", "/2"]
    assert not paths(found, [b"x"])


def test_a_library_tells_binary_forms_from_texts(tmp_path: Path):
    found = library(tmp_path, [b"price_of\x00", b"price_of"])
    binary = {v.path: v.binary for f in found.places_of([b"price_of"], 1) for v in found.read(f)}
    assert binary == {"/0": True, "/1": False}
    assert paths(found, [b"price_of"]) == ["/0", "/1"]


def test_what_is_changed_in_an_environment_is_seen(tmp_path: Path):
    assert not paths(library(tmp_path, [b"nothing"]), [b"price_of"])
    assert paths(library(tmp_path, [b"nothing", b"price_of"]), [b"price_of"])


def test_code_of_which_the_environment_holds_a_changed_copy_is_known(tmp_path: Path):
    changed = code("price", BODY).replace("    return total", "    print(total)\n    return -total")
    own = {"m.py": code("price", BODY).encode()}
    assert find_twins(own, image(tmp_path, changed)) == {("m.py", 2)}
    (tmp_path / "half").mkdir()
    assert not find_twins(own, image(tmp_path / "half", changed[:120]))
