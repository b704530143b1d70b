"""Which named pieces a recipe deletes."""

from codeenv.languages.base import Unit
from codeenv.materialise.brief import deleted_units
from codeenv.tasks.models import Operation
from tests.toytask import make_task

RECIPE = make_task().recipe
F = Unit("m.py", "f", "function", 1, 2, 3, (2,))
BOX = Unit("m.py", "Box", "class", 5, 6, 9, (6,))
PUT = Unit("m.py", "Box.put", "method", 7, 8, 9, (8,))
DEEP = Unit("m.py", "f(deep)", "parameter", 1, 2, 3, (2,))
HARD = Unit("m.py", "Box.put(hard)", "parameter", 7, 8, 9, (8,))
UNITS = (F, BOX, PUT, DEEP, HARD)


def deleted(kind, symbol):
    edit = Operation(
        path="m.py", start=0, end=9, sha256="0" * 16, kind=kind, mode="remove", symbol=symbol
    )
    return deleted_units(RECIPE.model_copy(update={"deletions": (edit,)}), UNITS)


def test_what_goes_with_a_class_or_a_module_is_no_parameter_of_its_own():
    assert deleted("module", "m") == (F, BOX, PUT)
    assert deleted("class", "Box") == (BOX, PUT)
    assert deleted("function", "f") == (F,)


def test_a_parameter_whose_function_stays_is_deleted():
    assert deleted("parameter", "f(deep)") == (DEEP,)
