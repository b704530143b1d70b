"""Which tests are held out."""

from codeenv.generate.split import held_out

NAMES = "abcdef"
TESTS = tuple(f"t.py::test_{name}[{case}]" for name in NAMES for case in range(3))
SAME = {test: frozenset({("m.py", 1), ("m.py", 2)}) for test in TESTS}


def functions(tests):
    return {test.partition("[")[0].rpartition("_")[2] for test in tests}


def test_a_third_of_the_functions_is_held_out_with_all_their_cases():
    chosen = held_out(TESTS, SAME)
    assert len(functions(chosen)) == 2
    assert len(chosen) == 6
    assert chosen == held_out(TESTS, SAME)


def test_a_test_that_runs_a_line_of_its_own_stays_seen():
    for alone in NAMES:
        own = {f"t.py::test_{alone}[1]": frozenset({("m.py", 9)})}
        chosen = held_out(TESTS, {**SAME, **own})
        assert alone not in functions(chosen)
        assert len(functions(chosen)) == 2


def test_of_two_tests_that_share_lines_one_stays_seen():
    pairs = {
        test: frozenset({("m.py", NAMES.index(name) // 2)})
        for test in TESTS
        for name in functions([test])
    }
    chosen = functions(held_out(TESTS, pairs))
    assert len({NAMES.index(name) // 2 for name in chosen}) == len(chosen) == 2


def test_a_test_of_which_no_line_is_known_stays_seen():
    assert held_out(TESTS, {}) == ()


def test_two_functions_stay_seen():
    assert held_out(TESTS[:6], SAME) == ()
