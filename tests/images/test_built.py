import json
import subprocess
import sys

import pytest

from codeenv.images.built import read_wheel
from codeenv.tasks.models import LockedPackage
from codeenv.tree import Entry, Tree

PACKAGE = LockedPackage(name="shop", version="1.0", sha256="a" * 64)
TREE = Tree({"src/shop/__init__.py": Entry(b""), "src/shop/price.py": Entry(b"")})
ABI = "cpython-313-x86_64-linux-gnu.so"


def modules(*paths, tree=TREE, roots=("src",)):
    wheel = Tree({path: Entry(path.encode()) for path in paths})
    built = read_wheel(PACKAGE, wheel, tree, roots)
    return dict(built.modules) if built else {}


def test_what_the_repository_lacks_is_taken_from_the_wheel():
    assert modules(
        "shop/__init__.py",
        "shop/price.py",
        f"shop/_speed.{ABI}",
        "shop/_other.abi3.so",
        f"_shop_top.{ABI}",
        "shop/version.py",
        "shop/made/__init__.py",
        "shop/py.typed",
        "shop/_speed.pyi",
        "shop-1.0.dist-info/METADATA",
    ) == {
        "shop._speed": f"shop/_speed.{ABI}",
        "shop._other": "shop/_other.abi3.so",
        "_shop_top": f"_shop_top.{ABI}",
        "shop.version": "shop/version.py",
        "shop.made": "shop/made/__init__.py",
    }


def test_compiled_copies_of_the_repository_s_own_python_are_never_taken():
    """Tests would run them, whatever an agent writes; and they are the answer."""
    assert modules("shop/__init__.py", f"shop/__init__.{ABI}", f"shop/price.{ABI}") == {}


def test_libraries_beside_a_package_stay_where_compiled_code_looks_for_them():
    wheel = Tree({f"shop/a.{ABI}": Entry(b"a"), "shop.libs/libz.so.1": Entry(b"z")})
    built = read_wheel(PACKAGE, wheel, TREE, ("src",))

    assert built is not None
    assert "_codeenv_built/shop.libs/libz.so.1" in built.site_files()
    assert f"_codeenv_built/shop/a.{ABI}" in built.site_files()
    assert built.modules == {"shop.a": f"shop/a.{ABI}"}


@pytest.mark.parametrize("root", [".", "src"])
def test_import_roots_may_be_the_repository_itself(root):
    tree = Tree({f"{root}/shop.py".removeprefix("./"): Entry(b"")})

    assert modules("shop.py", "shop_made.py", tree=tree, roots=(root,)) == {
        "shop_made": "shop_made.py"
    }


def test_an_interpreter_finds_built_modules_after_the_repository_s_own(tmp_path):
    wheel = {
        "shop/version.py": b"number = 3\n",
        "shop/made/__init__.py": b"from shop.made.deep import name\n",
        "shop/made/deep.py": b"name = 'deep'\n",
        "shop/both.py": b"where = 'wheel'\n",
    }
    built = read_wheel(PACKAGE, Tree({p: Entry(d) for p, d in wheel.items()}), TREE, ("src",))
    assert built is not None
    for path, entry in built.site_files().items():
        (tmp_path / "site" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "site" / path).write_bytes(entry.data)
    own = tmp_path / "src" / "shop"
    own.mkdir(parents=True)
    (own / "__init__.py").write_text("")
    (own / "both.py").write_text("where = 'repository'\n")
    (own / "made").mkdir()
    (own / "made" / "__init__.pyi").write_text("name: str\n")
    code = f"""
import json, site, sys
site.addsitedir({str(tmp_path / "site")!r})
sys.path.insert(0, {str(tmp_path / "src")!r})
from shop import version, made, both
try:
    import shop.nothing
except ModuleNotFoundError as error:
    missing = error.name
print(json.dumps([version.number, made.name, both.where, missing]))
"""
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, check=True)

    assert json.loads(done.stdout) == [3, "deep", "repository", "shop.nothing"]
