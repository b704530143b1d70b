"""What tokens cost, by a table that the user gives."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from codeenv.errors import UsageError


class Price(BaseModel):
    """USD for a million tokens.

    Attributes:
        input: Of the prompt.
        output: Of the answer, reasoning included.
        cached: Of the part of the prompt that the server had in its cache; None: as ``input``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)

    def cost(self, prompt: int, completion: int, cached: int = 0) -> float:
        """Return the USD for one answer; ``cached`` tokens are among those of the prompt."""
        known = min(cached, prompt)
        at = self.input if self.cached is None else self.cached
        return ((prompt - known) * self.input + known * at + completion * self.output) / 1e6


_TABLE = TypeAdapter(dict[str, Price])


def load_prices(path: Path) -> Mapping[str, Price]:
    """Read a table: model -> input, output, cached, as TOML or JSON.

    Raises:
        UsageError: If the file is missing or no such table.
    """
    try:
        text = path.read_text("utf-8")
        found = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
        return _TABLE.validate_python(found)
    except (OSError, ValueError, RecursionError, ValidationError) as error:
        raise UsageError(
            f"{path} is no table of prices: {error}",
            hint='{"MODEL": {"input": 2.5, "output": 10, "cached": 0.25}}, in USD per million',
        ) from error
