"""Boxes behind walls: the contract and the backends."""
