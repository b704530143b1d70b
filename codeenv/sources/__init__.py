"""Repositories as pinned, verified, safe trees."""

from codeenv.sources.pinned import Checkout, checkout, fetch

__all__ = ["Checkout", "checkout", "fetch"]
