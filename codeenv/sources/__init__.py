"""Repositories as pinned, verified, safe trees."""
