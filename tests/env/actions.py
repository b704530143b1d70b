"""Actions on the task in memory: look at it, solve it."""

LOOK = {"tool": "read_file", "arguments": {"path": "calc.py"}}
SOLVE = {
    "tool": "edit_file",
    "arguments": {
        "path": "calc.py",
        "old_str": "raise NotImplementedError",
        "new_str": "return a + b",
    },
}
