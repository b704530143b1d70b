"""What the assert methods of unittest compare, and their opposites."""

from typing import Final

EQUAL: Final = frozenset(
    """assertEqual assertEquals assertListEqual assertTupleEqual assertDictEqual assertSetEqual
    assertSequenceEqual assertMultiLineEqual assertCountEqual assertItemsEqual assertXMLEqual
    assertJSONEqual assertHTMLEqual assertQuerySetEqual assert_equal assert_array_equal
    assert_string_equal eq_""".split()
)
"""Two values that must be equal; one of them is expected."""

NEAR: Final = frozenset(
    """assertAlmostEqual assertAlmostEquals assert_almost_equal assert_allclose
    assert_array_almost_equal assert_approx_equal""".split()
)
"""Two numbers that must be nearly equal."""

MEMBER: Final = frozenset({"assertIn", "assert_in"})
"""A value and where it must be found."""

PATTERN: Final = frozenset({"assertRegex", "assertRegexpMatches"})
"""A text and what it must match."""

STARTS: Final = frozenset({"assertStartsWith", "assertEndsWith"})
"""A text and how it must start or end."""

INSTANCE: Final = frozenset({"assertIsInstance", "assertIsSubclass"})
"""A value and its class."""

TWO_SIDES: Final = EQUAL | NEAR | MEMBER | PATTERN | STARTS | INSTANCE | {"assertIs"}
"""All that have what was found and what is expected as their first two arguments."""

CALLED_WITH: Final = frozenset(
    """assert_called_with assert_called_once_with assert_awaited_with
    assert_awaited_once_with""".split()
)
"""Exactly these arguments a mock must have been called with."""

RAISES: Final = frozenset(
    """raises assertRaises assertRaisesRegex assertRaisesRegexp assertRaisesMessage assert_raises
    assert_raises_regex failUnlessRaises""".split()
)
"""An exception that must come."""

WARNS: Final = frozenset({"warns", "assertWarns", "assertWarnsRegex", "deprecated_call"})
"""A warning that must come."""

_PAIRS = """assertEqual assertNotEqual
assertEquals assertNotEqual
assertListEqual assertNotEqual
assertTupleEqual assertNotEqual
assertDictEqual assertNotEqual
assertSetEqual assertNotEqual
assertMultiLineEqual assertNotEqual
assertNotEqual assertEqual
assertNotEquals assertEqual
assertAlmostEqual assertNotAlmostEqual
assertAlmostEquals assertNotAlmostEqual
assertNotAlmostEqual assertAlmostEqual
assertTrue assertFalse
assertFalse assertTrue
assert_ assertFalse
assertIs assertIsNot
assertIsNot assertIs
assertIsNone assertIsNotNone
assertIsNotNone assertIsNone
assertIn assertNotIn
assertNotIn assertIn
assertIsInstance assertNotIsInstance
assertNotIsInstance assertIsInstance
assertGreater assertLessEqual
assertGreaterEqual assertLess
assertLess assertGreaterEqual
assertLessEqual assertGreater
assertRegex assertNotRegex
assertNotRegex assertRegex
assertStartsWith assertNotStartsWith
assertNotStartsWith assertStartsWith
assertEndsWith assertNotEndsWith
assertNotEndsWith assertEndsWith"""
OPPOSITE: Final = dict(line.split() for line in _PAIRS.splitlines())
"""Method of ``self`` -> the one that passes exactly where it fails, with the same arguments."""

FLIPPED: Final = frozenset({"assertTrue", "assertFalse", "assert_", "assertIsNone"})
"""What expects one of two values: its opposite expects the other one."""
