"""Which opinions of the code under test count: those that the known-good solution was asked for.

Plain values are compared on the tests' side.  But an object of the code under test may say of
itself that it equals anything, contains anything, is true or less than everything; that what a test
found wrong is no matter; or that a test's own list holds something else now.  While the known-good
solution runs, it is noted where that happened; later it happens nowhere else.
"""

from collections.abc import Iterable

from codeenv.guest.split_names import COMPARISONS

_OPINIONS = frozenset({*COMPARISONS, "__eq__", "__ne__", "__contains__", "__bool__"})
CHANGES = "~"
"""Licence to change lists, dicts and sets that a test passes."""


class UnlicensedError(AssertionError):
    """Raised in the test that asks an object what the known-good solution was never asked."""


class UnlicensedAttributeError(UnlicensedError, AttributeError):
    """Raised for an attribute that the known-good solution was not asked for: there is none."""


class Licences:
    """Notes what is asked, or refuses it.

    A licence holds in one test function, for all its rows; one for an attribute in a file.
    """

    def __init__(self, granted: Iterable[str] | None = None) -> None:
        """Refuse all but what is granted; note everything if that is None.

        Attributes:
            noted: Licences that were needed.
            opinionated: Places that asked for opinions.
            test: Id of the test that runs, or of the file that is collected, or "".
        """
        self._granted = None if granted is None else frozenset(granted)
        self._lost: list[str] = []
        self.noted: set[str] = set()
        self.opinionated: set[str] = set()
        self.test = ""

    def doubt(self) -> None:
        """Note that the test that runs needs negative controls."""
        self.opinionated.add(self.test)

    def allows(self, what: str) -> bool:
        """Return whether something may happen in the test function that runs."""
        return self._holds(f"{self.test.partition('[')[0]} {what}")

    def ask(self, kind: str, question: str) -> None:
        """Demand that objects of a class may be asked for an opinion.

        Args:
            kind: Name of the class.
            question: A special method, ``=`` for equality that nothing else confirms, or ``!=`` for
                being asked about equality at all.

        Raises:
            UnlicensedError: If not.
        """
        if not self.may(kind, question):
            raise UnlicensedError(f"an object of {kind} was asked for {question}")

    def may(self, kind: str, question: str) -> bool:
        """Return whether objects of a class may be asked for an opinion."""
        self.doubt()
        return self.allows(f"{kind}.{question}")

    def read(self, name: str) -> None:
        """Demand that an attribute may be read from anything that is no plain value.

        Raises:
            UnlicensedAttributeError: If not.
        """
        path, inside, _ = self.test.partition("::")
        if name.startswith("_") and name not in _OPINIONS:
            return
        if not self._holds(f"{path} .{name}") and inside:
            raise UnlicensedAttributeError(f"there is no attribute {name!r}")

    def lose(self, failure: BaseException) -> None:
        """Note that the code under test was told of a failure that a test found."""
        if not self.allows("!"):
            self._lost.append(f"{type(failure).__name__}: {failure}"[:200])
        else:
            self.doubt()

    def lost(self) -> str:
        """Return the first failure that the code under test was told of, once, or ""."""
        found, self._lost = self._lost[:1], []
        return "".join(found)

    def _holds(self, licence: str) -> bool:
        if self._granted is None:
            self.noted.add(licence)
            return True
        return licence in self._granted
