"""Checks on tasks: leaks, and whether nop scores 0 and oracle 1."""
