"""Environments: planning what to install, building it, locking it."""

from codeenv.images.build import build_environment
from codeenv.images.bundled import bundled_environment
from codeenv.images.layers import Environment
from codeenv.images.restore import restore_environment

__all__ = ["Environment", "build_environment", "bundled_environment", "restore_environment"]
