"""Planners: who goes on where the rules for building an environment end."""
