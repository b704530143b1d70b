import json
from pathlib import Path

import pytest

from codeenv.tools import schemas, tools_of

AGREED = {
    schema["function"]["name"]: schema
    for schema in json.loads((Path(__file__).parent / "schemas.json").read_text())
}


def test_the_schemas_are_the_agreed_ones_in_their_order():
    assert schemas() == [
        AGREED[name] for name in ("read_file", "edit_file", "run_command", "search", "submit")
    ]
    assert schemas("core4+lint") == [*schemas(), AGREED["lint"]]


def test_every_parameter_is_a_flat_scalar_with_one_type():
    for schema in schemas("core4+lint"):
        for name, parameter in schema["function"]["parameters"]["properties"].items():
            assert parameter["type"] in ("string", "integer", "boolean"), name
            assert not {"anyOf", "items", "$ref"} & set(parameter)


def test_no_tool_takes_a_name_that_servers_reserve():
    reserved = {"reset", "step", "state", "close", "verify", "seed_session", "mcp"}
    assert not reserved & set(tools_of("core4+lint"))


def test_an_unknown_profile_names_the_known_ones():
    with pytest.raises(ValueError, match="core4"):
        schemas("everything")
