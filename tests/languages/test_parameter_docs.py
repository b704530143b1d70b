"""What a docstring says of a parameter: it goes with the parameter, and a statement tells it."""

import pytest

from tests.languages.test_parameters import DOCUMENTED


@pytest.mark.parametrize(
    ("entry", "after"),
    [
        (
            ":param a: One.\n    :param b: Two,\n      more.\n    :type b: int\n    :returns: 3.",
            ":param a: One.\n    :returns: 3.",
        ),
        ("Parameters\n    ----------\n    b : int\n        Two.\n\n    Done.", "Done."),
        ("Args:\n        b (int): Two.\n\n    Returns:\n        It.", "Returns:\n        It."),
        ("Args:\n        a: One.\n        b: Two.\n", "Args:\n        a: One.\n"),
        ("Speaks of b: twice.", "Speaks of b: twice."),
        (
            "Parameters\n    ----------\n    a\n        One.\n    b\n        Two.\n",
            "Parameters\n    ----------\n    a\n        One.\n",
        ),
        (
            "Keyword arguments:\n    a -- One.\n    b -- Two.\n",
            "Keyword arguments:\n    a -- One.\n",
        ),
        ("Keyword arguments:\n    b -- Two.\n\n    Done.", "Done."),
    ],
)
def test_a_docstring_loses_the_entry_of_the_parameter(without, entry, after):
    text = 'def f(a, b=None):\n    """Do.\n\n    {}\n    """\n    return a\n'
    whole = text.format(entry).replace("    return a", "    if b:\n        a = 1\n    return a")
    left = without(whole, "f(b)")
    assert left == text.format(after).replace(", b=None", "")


def test_what_is_told_of_a_parameter(python, package, parameters):
    text = DOCUMENTED.replace(
        ".upper()", '.upper() + "louder" * 4731\n        raise KeyError(text)'
    )
    tree = package(text)
    doc = python.describe(tree, parameters(tree)["render(loud)"])
    assert doc.signature == "def render(text, *, loud=False)"
    assert doc.summary == "Whether to shout, which is rude."
    assert doc.docstring == "loud: Whether to shout,\n    which is rude."
    assert (doc.texts, doc.numbers) == (("louder",), (4731,))
    assert doc.raises == ("KeyError",)


def test_a_parameter_without_an_entry_is_told_by_the_sentence_that_speaks_of_it(
    python, package, parameters
):
    text = (
        'def f(b=0):\n    """Do it.  With *b*,\n    do more.  Done."""\n    if b:\n        a = 1\n'
    )
    tree = package(text)
    doc = python.describe(tree, parameters(tree)["f(b)"])
    assert doc.summary == doc.docstring == "With *b*, do more."


@pytest.mark.parametrize(
    ("entry", "summary"),
    [
        ("Parameters\n    ----------\n    b : int\n        How often.\n", "How often."),
        ("Parameters\n    ----------\n    b\n        How often.\n", "How often."),
        (":param b: How often\n    :type b: int\n", "How often"),
        (":type b: int\n    :param int b: How often,\n        at most.\n", "How often, at most."),
        ("@param b: How often.", "How often."),
        ("Keyword arguments:\n    b -- How often.\n", "How often."),
        ("Args:\n        *b* (int): How often.\n", "How often."),
        ("Parameters\n    ----------\n    a, b : int\n        Both.\n", ""),
        ("Args:\n        a, b: Both.\n", ""),
        ("Do more.  With *b*, do\n    most.  Done.\n", "With *b*, do most."),
        (">>> f(1, b=2)\n    2\n", ""),
    ],
)
def test_a_parameter_is_told_of_in_the_words_of_its_description_alone(
    python, package, parameters, entry, summary
):
    documented = f'def f(a, b=0):\n    """Do.\n\n    {entry}\n    """\n'
    tree = package(f"{documented}    if b:\n        a = 1\n    return a\n")
    assert python.describe(tree, parameters(tree)["f(b)"]).summary == summary
