import pytest

from codeenv.sandbox.fake import FakeSandbox
from codeenv.tools import ToolCall, ToolContext, ToolResult, perform
from codeenv.tree import Entry, Tree


@pytest.fixture
def box():
    return FakeSandbox(Tree({}))


@pytest.fixture
def put(box):
    def write(path: str, data: bytes | str, mode="file") -> None:
        content = data.encode() if isinstance(data, str) else data
        box.tree = Tree({**box.tree.entries, path: Entry(content, mode)})

    return write


@pytest.fixture
def use(box):
    def call(tool: str, /, **arguments) -> ToolResult:
        return perform(ToolCall(tool=tool, arguments=arguments), ToolContext(box), "core4+lint")

    return call
