"""Which opinions of the code under test count: those that the known-good solution was asked for.

Plain values are compared on the tests' side.  But an object of the code under test may say of
itself that it equals anything, contains anything, is true or less than everything.  While the
known-good solution runs, it is noted of which classes that was asked; later nobody else is.
"""

from collections.abc import Iterable

ANY = "*"
"""Licence for attributes of objects of any class."""


class UnlicensedError(AssertionError):
    """Raised in the test that asks an object what the known-good solution was never asked."""


class Licences:
    """Notes what is asked, or refuses it."""

    def __init__(self, granted: Iterable[str] | None = None) -> None:
        """Refuse all but what is granted; note everything if that is None.

        Attributes:
            noted: Licences that were needed.
            opinionated: Tests that asked more than for attributes.
            test: Id of the test that runs.
        """
        self._granted = None if granted is None else frozenset(granted)
        self.noted: set[str] = set()
        self.opinionated: set[str] = set()
        self.test = ""

    def doubt(self) -> None:
        """Note that the test that runs needs negative controls."""
        self.opinionated.add(self.test)

    def ask(self, kind: str, question: str) -> None:
        """Demand that objects of a class may be asked something.

        Args:
            kind: Name of the class.
            question: A special method, ``=`` for equality that nothing else confirms, or "" for
                attributes.

        Raises:
            UnlicensedError: If not.
        """
        licence = f"{kind}.{question}" if question else kind
        if question:
            self.doubt()
        if self._granted is None:
            self.noted.add(licence)
        elif licence not in self._granted and (question or ANY not in self._granted):
            what = question or "its attributes"
            raise UnlicensedError(f"an object of {kind} was asked for {what}")
