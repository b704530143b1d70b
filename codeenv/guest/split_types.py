"""The class of mirrored classes."""

import types
from typing import Any

from codeenv.guest.split_remote import NUMBER, Asker, Method, signature

_CLASS_LOCAL = frozenset(
    {"__name__", "__qualname__", "__module__", "__mro__", "__bases__", "__class__"}
    | {"__base__", "mro", "__subclasses__", "__new__", "__init__", "__subclasshook__"}
    | {"__basicsize__", "__flags__", "__itemsize__", "__abstractmethods__", "__prepare__"}
    | {
        "__deepcopy__",
        "__instancecheck__",
        "__subclasscheck__",
        "__init_subclass__",
        "__reduce_ex__",
        "__copy__",
    }
)


class RemoteType(type):
    """The class of mirrored classes; a class that a test puts below one is made over there."""

    _asker: Asker

    def __new__(meta, name: str, bases: Any, body: Any, **kwargs: Any) -> Any:  # noqa: ANN401, D102
        asker = next(b for b in bases if isinstance(b, RemoteType))._asker
        return asker.declare(name, bases, body, kwargs)

    def __init__(cls, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        pass

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401, D102
        return type.__getattribute__(cls, "_asker").call(cls, args, kwargs)

    def __getattribute__(cls, name: str) -> Any:  # noqa: ANN401
        if name in _CLASS_LOCAL or name.startswith("_codeenv") or name == "_asker":
            return type.__getattribute__(cls, name)
        if name == "__dict__":
            return _names(cls)
        if name == "__signature__":
            return signature(type.__getattribute__(cls, "_asker"), cls)
        return type.__getattribute__(cls, "_asker").get(cls, name)

    def __setattr__(cls, name: str, value: Any) -> None:  # noqa: ANN401
        if name in ("__abstractmethods__", "__parameters__") or name.startswith("_codeenv"):
            type.__setattr__(cls, name, value)
        else:
            cls._asker.put(cls, name, value)

    def __delattr__(cls, name: str) -> None:
        cls._asker.delete(cls, name)

    def __instancecheck__(cls, instance: Any) -> bool:  # noqa: ANN401
        if type.__instancecheck__(cls, instance):
            return True
        return _says(cls, "isinstance", instance)

    def __subclasscheck__(cls, other: type) -> bool:
        if type.__subclasscheck__(cls, other):
            return True
        return _says(cls, "issubclass", other)

    def __dir__(cls) -> list[str]:
        return list(cls._asker.ask("names", cls))

    def __bool__(cls) -> bool:
        return True

    def __iter__(cls) -> Any:  # noqa: ANN401
        return cls._asker.special(cls, "__iter__", ())

    def __len__(cls) -> int:
        return int(cls._asker.special(cls, "__len__", ()))

    def __contains__(cls, item: Any) -> bool:  # noqa: ANN401
        cls._asker.licensed(cls, "__contains__")
        return bool(cls._asker.special(cls, "__contains__", (item,)))

    def __getitem__(cls, key: Any) -> Any:  # noqa: ANN401
        return cls._asker.ask("item", cls, key)

    def __repr__(cls) -> str:
        return f"<class '{cls.__module__}.{cls.__qualname__}'>"

    _codeenv_told: dict[str, Any]
    _codeenv_local: bool = False


def _says(cls: RemoteType, question: str, other: Any) -> bool:  # noqa: ANN401 - any object
    """Return whether a class claims something as one of its own, and may."""
    if not cls._codeenv_told["checks"] or cls._asker.ask(question, other, cls) is not True:
        return False
    return cls._asker.trusted(cls, question)


def _names(cls: RemoteType) -> types.MappingProxyType[str, Any]:
    """Return the names of a class: what it has here, and raw entries to look at or put back."""
    local = type.__getattribute__(cls, "__dict__")
    asker = type.__getattribute__(cls, "_asker")
    number, own = type.__getattribute__(cls, NUMBER), cls._codeenv_told["own"]
    raw = {
        name: asker.ask("get", cls, name) if kind == "d" else Method(asker, number, name)
        for name, kind in own.items()
    }
    kept = {n: value for n, value in local.items() if isinstance(value, types.FunctionType)}
    return types.MappingProxyType({**raw, **kept} if cls._codeenv_local else raw)
