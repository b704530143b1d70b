"""Environments: planning what to install, building it, locking it."""
