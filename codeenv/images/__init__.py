"""Environments: planning what to install, building it, locking it."""

from codeenv.images.build import build_environment, restore_environment
from codeenv.images.bundled import bundled_environment
from codeenv.images.layers import Environment

__all__ = ["Environment", "build_environment", "bundled_environment", "restore_environment"]
