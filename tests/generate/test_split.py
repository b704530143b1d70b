from codeenv.generate.split import held_out

TESTS = tuple(f"t.py::test_{name}[{case}]" for name in "abcdef" for case in range(3))


def test_a_third_of_the_functions_is_held_out_with_all_their_cases():
    chosen = held_out(TESTS)
    functions = {test.split("[")[0] for test in chosen}
    assert len(functions) == 2
    assert len(chosen) == 6


def test_the_same_tests_are_held_out_every_time():
    assert held_out(TESTS) == held_out(TESTS)


def test_a_single_function_stays_visible():
    assert held_out(TESTS[:3]) == ()
