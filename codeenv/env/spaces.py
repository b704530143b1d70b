"""The spaces: any Unicode text, and any valid tool call."""

import string
from typing import Any

import numpy as np
from gymnasium import spaces

from codeenv.tools import Profile, ToolResult, parse_action, validate

TEXT_LENGTH = 2**20
_SAMPLED = 40
_PATHS = (".", "README.md", "pyproject.toml", "setup.py", "src", "tests")
_PATTERNS = ("def ", "class ", "import", "raise", "TODO")
_COMMANDS = ("true", "ls", "cat README.md", "git status --short", "echo hello")


class UnicodeText(spaces.Text):
    """Text that UTF-8 can carry, up to a length; samples are short and printable."""

    def __init__(
        self, max_length: int = TEXT_LENGTH, *, min_length: int = 0, seed: int | None = None
    ) -> None:
        """Set the bounds (in characters)."""
        charset = string.ascii_letters + string.digits + string.punctuation + " \n\t"
        super().__init__(max_length, min_length=min_length, charset=charset, seed=seed)

    def contains(self, x: Any) -> bool:  # noqa: ANN401 - Gymnasium's signature
        """Return whether ``x`` is such a text."""
        if not isinstance(x, str) or not self.min_length <= len(x) <= self.max_length:
            return False
        try:
            x.encode("utf-8")
        except UnicodeEncodeError:
            return False
        return True

    def sample(self, mask: Any = None, probability: Any = None) -> str:  # noqa: ANN401
        """Return a short printable text; masks are those of ``spaces.Text``."""
        if mask is not None or probability is not None:
            return super().sample(mask, probability)
        longest = min(self.max_length, max(self.min_length, _SAMPLED))
        length = int(self.np_random.integers(self.min_length, longest + 1))
        return "".join(self.np_random.choice(list(self.character_list), size=length))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UnicodeText) and (self.min_length, self.max_length) == (
            other.min_length,
            other.max_length,
        )

    def __hash__(self) -> int:
        return hash((self.min_length, self.max_length))

    def __repr__(self) -> str:
        return f"UnicodeText({self.min_length}, {self.max_length})"


class ActionSpace(spaces.Space[Any]):
    """Tool calls: contains every accepted form of a valid call, samples ``{"tool", "arguments"}``.

    Samples read, search, run harmless commands, create a scratch file, and now and then submit.
    """

    def __init__(
        self, profile: Profile = "core4", seed: int | np.random.Generator | None = None
    ) -> None:
        """Allow the tools of a profile."""
        super().__init__(shape=None, dtype=None, seed=seed)
        self.profile = profile

    @property
    def is_np_flattenable(self) -> bool:
        """Tool calls are not arrays."""
        return False

    def contains(self, x: Any) -> bool:  # noqa: ANN401 - Gymnasium's signature
        """Return whether ``x`` stands for a valid call."""
        call = parse_action(x)
        return not isinstance(call, ToolResult) and validate(call, self.profile) is not None

    def sample(self, mask: Any = None, probability: Any = None) -> dict[str, Any]:  # noqa: ANN401
        """Return a random valid call; there are no masks.

        Raises:
            ValueError: If a mask is given.
        """
        if mask is not None or probability is not None:
            raise ValueError("tool calls are sampled without masks")
        draw = int(self.np_random.integers(100))
        if draw < 35:
            return _call("read_file", path=self._one(_PATHS))
        if draw < 60:
            return _call("search", pattern=self._one(_PATTERNS), fixed_strings=True)
        if draw < 85:
            return _call("run_command", command=self._one(_COMMANDS))
        if draw < 97:
            name = f"scratch_{int(self.np_random.integers(10))}.txt"
            return _call("edit_file", path=name, old_str="", new_str="scratch\n", overwrite=True)
        return _call("submit")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ActionSpace) and self.profile == other.profile

    def __hash__(self) -> int:
        return hash(self.profile)

    def __repr__(self) -> str:
        return f"ActionSpace({self.profile!r})"

    def _one(self, choices: tuple[str, ...]) -> str:
        return choices[int(self.np_random.integers(len(choices)))]


def observation_space(max_steps: int) -> spaces.Dict:
    """Return the space of observations of an episode of at most ``max_steps`` calls.

    ``text`` is the instruction at first, then the tool's result; ``tool`` the tool's name or "";
    ``exit_code`` a command's status, -1 where there was none; ``is_error`` 1 for an error
    observation; ``step`` and ``steps_left`` count calls.
    """
    return spaces.Dict(
        {
            "text": UnicodeText(),
            "tool": UnicodeText(256),
            "exit_code": spaces.Discrete(257, start=-1),
            "is_error": spaces.Discrete(2),
            "step": spaces.Discrete(max_steps + 1),
            "steps_left": spaces.Discrete(max_steps + 1),
        }
    )


def _call(tool: str, **arguments: object) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments}
