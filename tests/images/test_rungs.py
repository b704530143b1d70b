import pytest

from codeenv.images.rungs import Rung, as_stated, loosen, rungs_of


def test_own_pins_come_first_then_ever_older_runners_without_pins():
    assert rungs_of(["pytest==8.1.1", "freezegun==1.4.0", "attrs>=20"], "3.13.5") == (
        Rung("pytest==8.1.1", ("freezegun==1.4.0", "attrs>=20")),
        Rung("pytest", ("freezegun", "attrs>=20")),
        Rung("pytest<9", ("freezegun", "attrs>=20")),
        Rung("pytest<8", ("freezegun", "attrs>=20")),
    )


def test_without_pins_there_is_no_rung_twice():
    assert [rung.runner for rung in rungs_of(["pytest>=6"], "3.13.5")] == [
        "pytest",
        "pytest<9",
        "pytest<8",
    ]


@pytest.mark.parametrize(
    "text",
    [
        'pytest==7.4.4; python_version < "3.8"',
        'colorama; platform_system == "Windows"',
        'tomli; python_full_version < "3.11.0a7"',
        'docs; extra == "docs"',
        "pip-tools==7.4",
        "setuptools>=61",
        "not a requirement",
    ],
)
def test_what_does_not_apply_is_left_out(text):
    first = rungs_of([text], "3.13.5")[0]
    assert first == Rung("pytest", ())


@pytest.mark.parametrize(
    ("text", "loose"),
    [
        ("a==1.0", "a"),
        ("a[x,b]==1.0", "a[b,x]"),
        ("a!=1.3,==1.*", "a!=1.3"),
        ("a>=1,<2", "a>=1,<2"),
        ("a", "a"),
    ],
)
def test_loosening_drops_exact_pins_only(text, loose):
    assert loosen(text) == loose


@pytest.mark.parametrize(
    ("name", "stated"),
    [
        ("railroad", "railroad-diagrams<4"),
        ("Jinja2", "jinja2>=3"),
        ("django", "django"),
        ("google", "google"),
        ("numpy", "numpy"),
    ],
)
def test_a_missing_distribution_is_what_the_extras_call_so(name, stated):
    extras = ("railroad-diagrams<4", "jinja2>=3", "pytest-django", "django-stubs", "google-auth")
    assert as_stated(name, (*extras, "google-api-core", "types-numpy")) == stated
