import pytest

from codeenv.env.fake import FakeRuntime


@pytest.fixture
def runtime():
    return FakeRuntime()
