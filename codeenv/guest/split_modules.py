"""What stands for modules of the code under test."""

import types
from collections.abc import Iterator, MutableMapping
from typing import Any

from codeenv.guest.split_remote import Asker

_OF_IMPORT = frozenset(
    {"__spec__", "__loader__", "__path__", "__file__", "__package__", "__cached__", "__name__"}
)
_OWN_NAMES: Any = vars(types.ModuleType)["__dict__"]


class Namespace(MutableMapping[str, Any]):
    """The names of a module, for who looks them up there."""

    def __init__(self, module: types.ModuleType) -> None:
        """Show the names of a module that asks."""
        self._module = module

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - any object
        try:
            return _entry(self._module, name)
        except AttributeError:
            raise KeyError(name) from None

    def __setitem__(self, name: str, value: Any) -> None:  # noqa: ANN401 - any object
        setattr(self._module, name, value)

    def __delitem__(self, name: str) -> None:
        delattr(self._module, name)

    def copy(self) -> dict[str, Any]:
        """Return the names and what they mean now."""
        return {name: self[name] for name in self if name in self}

    def __iter__(self) -> Iterator[str]:
        return iter(dir(self._module))

    def __len__(self) -> int:
        return len(dir(self._module))


def _entry(module: types.ModuleType, name: str) -> Any:  # noqa: ANN401 - any object
    own = _OWN_NAMES.__get__(module)
    if name in own or name in _OF_IMPORT:
        return getattr(module, name)
    return own["_codeenv_asker"].ask("get", module, name)


class RemoteModule(types.ModuleType):
    """A module of the code under test."""

    def __init__(self, asker: Asker, name: str) -> None:
        super().__init__(name)
        own = _OWN_NAMES.__get__(self)
        own["_codeenv_asker"] = asker
        del own["__doc__"]

    def __getattribute__(self, name: str) -> Any:  # noqa: ANN401 - any object
        own = _OWN_NAMES.__get__(self)
        if name in own:
            return own[name]
        if name == "__dict__":
            return Namespace(self)
        if name == "__class__" or name in _OF_IMPORT:  # asked for while it is being imported
            return super().__getattribute__(name)
        if name == "__all__":
            return _exported(own["_codeenv_asker"], self)
        return own["_codeenv_asker"].get(self, name)

    def __setattr__(self, name: str, value: Any) -> None:  # noqa: ANN401 - any object
        if name in _OF_IMPORT or isinstance(value, RemoteModule):
            _OWN_NAMES.__get__(self)[name] = value
        else:
            self._codeenv_asker.put(self, name, value)

    def __delattr__(self, name: str) -> None:
        self._codeenv_asker.delete(self, name)

    def __dir__(self) -> list[str]:
        return list(self._codeenv_asker.ask("names", self))

    def __repr__(self) -> str:
        return f"<module {self.__name__!r}>"


def _exported(asker: Asker, module: RemoteModule) -> list[str]:
    try:
        return list(asker.get(module, "__all__"))
    except AttributeError:
        return [name for name in dir(module) if not name.startswith("_")]
